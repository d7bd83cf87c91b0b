import type { SortDirection, TurnItemsView } from '../protocol/generated/types.ts';

/**
 * A page of a list. Cursors are opaque; a cursor is null if there is nothing more in its direction.
 * In a history, a cursor names an entry: it stays valid in every history that has the entry, and
 * once unfinished items are stored.
 */
export interface Page<T> {
  data: T[];
  /** Continues after this page, in the same direction. */
  nextCursor: string | null;
  /** With the opposite direction, gives a page that begins with the first entry of this one. */
  backwardsCursor: string | null;
}

/**
 * The most that one read of a history returns, in bytes of JSON, if its query does not say
 * otherwise.
 */
export const SLICE_BYTES_MAX = 1024 * 1024;

export interface PageQuery {
  cursor?: string | null;
  /**
   * Values below 1 count as 1. Without a limit the page has all entries. A page of a history has at
   * most 1,000 entries.
   */
  limit?: number;
  direction: SortDirection;
}

/**
 * The query of a part of a history. The part ends early where its entries would exceed `bytesMax`;
 * it has at least one entry.
 */
export interface SliceQuery extends PageQuery {
  /** In bytes of JSON; by default SLICE_BYTES_MAX. */
  bytesMax?: number;
}

/** A page of a history, which may be shorter than its query's limit. */
export interface HistoryPage<T> extends Page<T> {
  /** The approximate size of the data's JSON. */
  bytes: number;
}

export interface TurnQuery extends SliceQuery {
  /**
   * `summary`: a turn has its first user message and its last agent message. `notLoaded`: it has no
   * items.
   */
  view: Exclude<TurnItemsView, 'full'>;
}

export interface ItemQuery extends SliceQuery {
  /** Lists the items of this turn only. */
  turnId?: string | null;
  /**
   * Lists from this turn on: its items, and those of all turns after it in the query's direction.
   * For use without a cursor.
   */
  fromTurnId?: string | null;
  /** The page begins with this item. For use without a cursor. */
  fromItemId?: string | null;
}

/** Which threads a list has, and in which order. */
export interface ThreadQuery extends PageQuery {
  archived: boolean;
  sortKey: 'createdAt' | 'updatedAt' | 'recencyAt';
  /** Null: every provider. */
  modelProviders: string[] | null;
  /** Null: every working directory. */
  cwds: string[] | null;
  /**
   * Null: every source. Each entry is a kind of source: the source's string, `custom`, or
   * `subAgent…`.
   */
  sources: string[] | null;
  /** Null: every originator. */
  originators: string[] | null;
  /** Only agents that this thread started. Null: every thread. */
  parentId: string | null;
  /** Only agents below this thread, at any depth. Null: every thread. */
  ancestorId: string | null;
  /** Null: no thread is excluded. */
  excludedIds: string[] | null;
  /** A part of the name or the preview, in any case. Null: every thread. */
  searchTerm: string | null;
}
