import type { ResponseItem } from '../protocol/generated/types.ts';
import type { HistoryEntry } from './history-entry.ts';

/** What the model reads, put together from the entries of a log in their order. */
export class ModelItems {
  readonly #read: ResponseItem[];
  #deferred: { turnId: string | null; items: ResponseItem[] } = { turnId: null, items: [] };

  /** Begins with items that are in their order already. */
  constructor(items: ResponseItem[] = []) {
    this.#read = items;
  }

  /** Takes the next entry; those that are not for the model change nothing. */
  add(entry: HistoryEntry): void {
    if (entry.kind !== 'model' && entry.kind !== 'deferredRead') return;
    if (entry.kind === 'deferredRead' || entry.turnId !== this.#deferred.turnId) this.#release(entry.turnId);
    if (entry.kind === 'model') (entry.deferred ? this.#deferred.items : this.#read).push(entry.item);
  }

  /** All of them so far, what is deferred last. */
  list(): ResponseItem[] {
    return [...this.#read, ...this.#deferred.items];
  }

  #release(turnId: string | null): void {
    this.#read.push(...this.#deferred.items);
    this.#deferred = { turnId, items: [] };
  }
}
