import type { ResponseItem } from '../protocol/generated/types.ts';
import type { HistoryEntry } from './history-entry.ts';

/** Brings the items that the model reads into their order, from the entries of a history as they come. */
export class ModelItems {
  readonly #take: (item: ResponseItem) => void;
  #deferred: { turnId: string | null; items: ResponseItem[] } = { turnId: null, items: [] };

  /** `take` gets the items in order, each as soon as its place is known. */
  constructor(take: (item: ResponseItem) => void) {
    this.#take = take;
  }

  /** Adds the next entry. Ignores entries that are not for the model. */
  add(entry: HistoryEntry): void {
    if (entry.kind !== 'model' && entry.kind !== 'deferredRead') return;
    if (entry.kind === 'deferredRead' || entry.turnId !== this.#deferred.turnId) this.#release(entry.turnId);
    if (entry.kind !== 'model') return;
    if (entry.deferred) this.#deferred.items.push(entry.item);
    else this.#take(entry.item);
  }

  /** The deferred items so far. At the end of a history they come last. */
  get deferred(): readonly ResponseItem[] {
    return this.#deferred.items;
  }

  #release(turnId: string | null): void {
    for (const item of this.#deferred.items) this.#take(item);
    this.#deferred = { turnId, items: [] };
  }
}
