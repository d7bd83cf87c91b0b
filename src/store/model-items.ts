import type { ResponseItem } from '../protocol/generated/types.ts';
import type { HistoryEntry } from './history-entry.ts';
import type { Author } from './log-entry.ts';

/**
 * An item that the model reads, and its author. Null: the model, a tool, or nobody has noted the
 * author.
 */
export interface AuthoredItem {
  item: ResponseItem;
  author: Author | null;
}

/** An item that the model reads, and the turn that it came in; null: none. */
export interface ReadItem extends AuthoredItem {
  turnId: string | null;
  /** An output that takes the place of the one before it with the same call id. */
  replaces?: true;
}

interface ModelItemsOptions {
  /** Gets the items in order, each as soon as its place is known. */
  take(read: ReadItem): void;
  /** From here on, the model reads these items in place of all that came before. */
  restart(items: readonly AuthoredItem[]): void;
}

/**
 * Brings the items that the model reads into their order, from the entries of a history as they
 * come.
 */
export class ModelItems {
  readonly #options: ModelItemsOptions;
  #deferred: { turnId: string | null; items: ReadItem[] } = { turnId: null, items: [] };

  constructor(options: ModelItemsOptions) {
    this.#options = options;
  }

  /** Adds the next entry. Ignores entries that are not for the model. */
  add(entry: HistoryEntry): void {
    if (entry.kind === 'compacted') {
      this.#deferred = { turnId: null, items: [] };
      this.#options.restart(
        entry.items.map((item, index) => ({ item, author: entry.authors?.[index] ?? null })),
      );
      return;
    }
    if (entry.kind !== 'model' && entry.kind !== 'deferredRead') return;
    if (entry.kind === 'deferredRead' || entry.turnId !== this.#deferred.turnId)
      this.#release(entry.turnId);
    if (entry.kind !== 'model') return;
    const { item, author = null, turnId } = entry;
    const read: ReadItem = { item, author, turnId, ...(entry.replaces && { replaces: true }) };
    if (entry.deferred) this.#defer(read);
    else this.#options.take(read);
  }

  /** The deferred items so far. At the end of a history they come last. */
  get deferred(): readonly ReadItem[] {
    return this.#deferred.items;
  }

  #defer(read: ReadItem): void {
    const { items } = this.#deferred;
    const at = read.replaces ? lastOutputOf(outputCallId(read.item), items) : -1;
    if (at === -1) items.push(read);
    else items[at] = { item: read.item, author: read.author, turnId: read.turnId };
  }

  #release(turnId: string | null): void {
    for (const each of this.#deferred.items) this.#options.take(each);
    this.#deferred = { turnId, items: [] };
  }
}

/** Where the last output of this call is; -1: there is none. */
export function lastOutputOf(callId: string | null, items: readonly AuthoredItem[]): number {
  return items.findLastIndex(({ item }) => callId !== null && outputCallId(item) === callId);
}

/** The output of a call that this server has run. */
export type CallOutputItem = Extract<
  ResponseItem,
  { type: 'function_call_output' | 'custom_tool_call_output' | 'tool_search_output' }
>;

/** The id of the call that an output is for; null if the item is no output. */
export function outputCallId(item: ResponseItem): string | null {
  return isCallOutput(item) ? (item.call_id ?? '') : null;
}

export function isCallOutput(item: ResponseItem): item is CallOutputItem {
  if (item.type === 'tool_search_output') return item.execution === 'client';
  return item.type === 'function_call_output' || item.type === 'custom_tool_call_output';
}
