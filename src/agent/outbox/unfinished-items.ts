import type { Announcement } from '../../protocol/announcement.ts';
import type { ThreadItem, UntimedItem } from '../../protocol/generated/types.ts';
import type { StoredItem } from '../../store/log-entry.ts';
import { timedItem } from '../../store/timed-item.ts';

/**
 * The items of a thread that were announced as started and are not stored as completed. The store
 * has them as they were some time ago.
 */
export class UnfinishedItems {
  readonly #current = new Map<string, () => StoredItem>();
  readonly #waitingDeltas: (itemId: string) => Announcement[];

  /** `waitingDeltas` returns the deltas of an item that clients do not have yet, in their order. */
  constructor(waitingDeltas: (itemId: string) => Announcement[]) {
    this.#waitingDeltas = waitingDeltas;
  }

  /** Call it when the item was announced. `current` returns the item as it is now. */
  begin(itemId: string, current: () => StoredItem): void {
    this.#current.set(itemId, current);
  }

  end(itemId: string): void {
    this.#current.delete(itemId);
  }

  /** Returns the stored item, or, if it is unfinished, a copy of it as clients have seen it. */
  asSeen(stored: StoredItem): StoredItem {
    const current =
      stored.completedAtMs === null ? this.#current.get(stored.item.id)?.() : undefined;
    return current === undefined ? stored : { ...current, item: this.#seen(current.item) };
  }

  /** Like `asSeen`, for the items of a turn. */
  allAsSeen(items: readonly ThreadItem[]): ThreadItem[] {
    return items.map((item) => {
      const current = this.#current.get(item.id)?.();
      return current === undefined
        ? item
        : timedItem({ ...current, item: this.#seen(current.item) });
    });
  }

  #seen(item: UntimedItem): UntimedItem {
    const seen = item.type === 'reasoning' ? structuredClone(item) : { ...item };
    for (const delta of this.#waitingDeltas(item.id).reverse()) removeDelta(seen, delta);
    return seen;
  }
}

/** Removes the text of an item's last delta from it. */
function removeDelta(item: UntimedItem, { method, params }: Announcement): void {
  if (method === 'item/agentMessage/delta' || method === 'item/plan/delta') {
    if (item.type === 'agentMessage' || item.type === 'plan')
      item.text = without(item.text, params.delta);
  } else if (item.type !== 'reasoning') return;
  else if (method === 'item/reasoning/summaryTextDelta')
    removeFromPart(item.summary ?? [], params.summaryIndex, params.delta);
  else if (method === 'item/reasoning/textDelta')
    removeFromPart(item.content ?? [], params.contentIndex, params.delta);
  else if (method === 'item/reasoning/summaryPartAdded') item.summary?.splice(params.summaryIndex);
}

function removeFromPart(parts: string[], index: number, delta: string): void {
  const rest = without(parts[index] ?? '', delta);
  if (rest === '') parts.splice(index);
  else parts[index] = rest;
}

function without(text: string, end: string): string {
  return text.endsWith(end) ? text.slice(0, text.length - end.length) : text;
}
