import type { ThreadItem } from '../protocol/generated/types.ts';
import type { StoredItem } from './log-entry.ts';

/** An item with its times, as clients see it. The store keeps the times beside the item. */
export function timedItem({
  item,
  startedAtMs,
  completedAtMs,
}: Omit<StoredItem, 'turnId'>): ThreadItem {
  return { ...item, startedAtMs, completedAtMs };
}
