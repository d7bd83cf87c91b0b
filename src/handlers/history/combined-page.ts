import { type HistoryPage, SLICE_BYTES_MAX, type SliceQuery } from '../../store/page-query.ts';

/**
 * Reads a page in slices, so that the store answers others in between. It ends early where it would
 * exceed `bytesMax`.
 */
export async function combinedPage<T, Query extends SliceQuery>(
  read: (query: Query) => Promise<HistoryPage<T>>,
  query: Query,
  bytesMax: number,
): Promise<HistoryPage<T>> {
  const page = await read({ ...query, bytesMax: Math.min(SLICE_BYTES_MAX, bytesMax) });
  for (;;) {
    const limit =
      query.limit === undefined
        ? Number.POSITIVE_INFINITY
        : Math.max(1, query.limit) - page.data.length;
    if (page.nextCursor === null || limit <= 0 || page.bytes >= bytesMax) return page;
    // The cursor replaces the beginning that the query names.
    const begun = { cursor: page.nextCursor, fromItemId: null, fromTurnId: null };
    const next = await read({
      ...query,
      ...begun,
      ...(query.limit === undefined ? {} : { limit }),
      bytesMax: SLICE_BYTES_MAX,
    });
    if (page.bytes + next.bytes > bytesMax) return page;
    page.data.push(...next.data);
    page.bytes += next.bytes;
    page.nextCursor = next.nextCursor;
  }
}
