import type { LateItem } from './history-entry.ts';
import { isBlank, settleItem } from './settle-item.ts';
import type { LogEntry, StoredItem } from './thread-store.ts';

/** A turn that has begun and not ended. */
export interface OpenTurn {
  turnId: string;
  startedAtMs: number;
}

/** An item that has begun and not completed, and when it was last saved. */
export interface PartialItem {
  savedAtMs: number;
  item: StoredItem;
}

/** The entries that end items of earlier turns that still ran when their writer died, each as it was last saved. */
export function lateEntries(turn: OpenTurn | null, partials: PartialItem[]): LateItem[] {
  const others = partials.filter(({ item }) => item.turnId !== turn?.turnId);
  return others.map(({ item: { turnId, item, startedAtMs }, savedAtMs }) => ({
    kind: 'lateItem',
    turnId,
    item: settleItem(item),
    startedAtMs,
    completedAtMs: savedAtMs,
  }));
}

/**
 * The entries that end a turn that was cut off: its unfinished items as they were last saved, and the turn's end. The time
 * of the cut is unknown, so the turn ends at the last known write: `lastWriteMs`, or the last save of an item.
 */
export function settlingEntries(turn: OpenTurn, partials: PartialItem[], lastWriteMs: number): LogEntry[] {
  const own = partials.filter(({ item }) => item.turnId === turn.turnId && !isBlank(item.item));
  const endedAtMs = Math.max(turn.startedAtMs, lastWriteMs, ...own.map(({ savedAtMs }) => savedAtMs));
  const items = own.map(
    ({ item, savedAtMs }): LogEntry => ({
      kind: 'item',
      turnId: turn.turnId,
      item: settleItem(item.item),
      startedAtMs: item.startedAtMs,
      completedAtMs: savedAtMs,
      partial: true,
    }),
  );
  const durationMs = endedAtMs - turn.startedAtMs;
  return [...items, { kind: 'turnEnded', turnId: turn.turnId, status: 'interrupted', error: null, completedAtMs: endedAtMs, durationMs }];
}
