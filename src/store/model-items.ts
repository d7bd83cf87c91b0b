import type { ResponseItem } from '../protocol/generated/types.ts';
import type { HistoryEntry } from './history-entry.ts';

/** Collects the items that the model reads, from the entries of a history in their order. */
export class ModelItems {
  readonly #read: ResponseItem[];
  #deferred: { turnId: string | null; items: ResponseItem[] } = { turnId: null, items: [] };

  /** `items`: items that are already in order. */
  constructor(items: ResponseItem[] = []) {
    this.#read = items;
  }

  /** Adds the next entry. Ignores entries that are not for the model. */
  add(entry: HistoryEntry): void {
    if (entry.kind !== 'model' && entry.kind !== 'deferredRead') return;
    if (entry.kind === 'deferredRead' || entry.turnId !== this.#deferred.turnId) this.#release(entry.turnId);
    if (entry.kind === 'model') (entry.deferred ? this.#deferred.items : this.#read).push(entry.item);
  }

  /** All items so far, the deferred ones last. */
  list(): ResponseItem[] {
    return [...this.#read, ...this.#deferred.items];
  }

  #release(turnId: string | null): void {
    this.#read.push(...this.#deferred.items);
    this.#deferred = { turnId, items: [] };
  }
}
