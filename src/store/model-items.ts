import type { ResponseItem } from '../protocol/generated/types.ts';
import type { HistoryEntry } from './log-rows.ts';

/** What the model reads, put together from the entries of a log in their order. */
export class ModelItems {
  readonly #read: ResponseItem[];
  #held: { turnId: string | null; items: ResponseItem[] } = { turnId: null, items: [] };

  /** Begins with items that are in their order already. */
  constructor(items: ResponseItem[] = []) {
    this.#read = items;
  }

  /** Takes the next entry; those that are not for the model change nothing. */
  add(entry: HistoryEntry): void {
    if (entry.kind !== 'model' && entry.kind !== 'heldRead') return;
    if (entry.kind === 'heldRead' || entry.turnId !== this.#held.turnId) this.#release(entry.turnId);
    if (entry.kind === 'model') (entry.held ? this.#held.items : this.#read).push(entry.item);
  }

  /** All of them so far, what is held last. */
  list(): ResponseItem[] {
    return [...this.#read, ...this.#held.items];
  }

  #release(turnId: string | null): void {
    this.#read.push(...this.#held.items);
    this.#held = { turnId, items: [] };
  }
}
