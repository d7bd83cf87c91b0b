import { invalidCursor } from '../../protocol/rpc-error.ts';

/** The number of entries on a page if the request sets no limit. */
const PAGE_LENGTH_DEFAULT = 25;
const PAGE_LENGTH_MAX = 1000;

type RequestedLimit = number | null | undefined;

export interface ListPage<T> {
  data: T[];
  /** Null on the last page. */
  nextCursor: string | null;
}

/** The number of entries on a page: at least one, since an empty page cannot be continued. */
export function pageLimit(requested: RequestedLimit): number {
  return Math.min(Math.max(requested ?? PAGE_LENGTH_DEFAULT, 1), PAGE_LENGTH_MAX);
}

/**
 * The first page of `items`, which are the entries of a list after the request's cursor. `cursorOf`
 * makes the next cursor from the last entry of the page. Without a limit, the page has all items.
 */
export function listPage<T>(
  items: readonly T[],
  limit: RequestedLimit,
  cursorOf: (last: T) => string,
): ListPage<T> {
  const data = items.slice(0, limit == null ? items.length : pageLimit(limit));
  const last = data.at(-1);
  return {
    data,
    nextCursor: last === undefined || data.length === items.length ? null : cursorOf(last),
  };
}

/**
 * A page of a list. The cursor is the number of entries before the page. Without a limit, the page
 * has all the rest. Throws if the cursor is not a number, or larger than the list.
 */
export function pageByPosition<T>(
  items: readonly T[],
  { cursor, limit }: { cursor: string | null | undefined; limit: RequestedLimit },
): ListPage<T> {
  const start = cursor == null ? 0 : positionIn(items, cursor);
  const end = limit == null ? items.length : start + pageLimit(limit);
  return { data: items.slice(start, end), nextCursor: end < items.length ? String(end) : null };
}

function positionIn(items: readonly unknown[], cursor: string): number {
  const position = /^\d{1,9}$/.test(cursor) ? Number(cursor) : null;
  if (position === null || position > items.length) throw invalidCursor(cursor);
  return position;
}
