import { decodeCursor, encodeCursor } from '../../encode-cursor.ts';
import type { Page, ThreadQuery } from '../../page-query.ts';
import { invalidStoreCursor } from '../../store-error.ts';
import type { ThreadRecord } from '../../thread-record.ts';
import { ALL } from '../history/log-row.ts';
import type { ThreadRows } from '../thread-table/thread-rows.ts';

const ORDERS = {
  createdAt: { column: 'created_at', timeOf: (thread: ThreadRecord) => thread.createdAtMs },
  updatedAt: { column: 'updated_at', timeOf: (thread: ThreadRecord) => thread.updatedAtMs },
  recencyAt: { column: 'recency_at', timeOf: (thread: ThreadRecord) => thread.recencyAtMs },
} as const;

const SUB_AGENTS = ['subAgentReview', 'subAgentCompact', 'subAgentThreadSpawn', 'subAgentOther'];

/** Reads a page of the listed threads. */
export function listStoredThreads(threads: ThreadRows, query: ThreadQuery): Page<ThreadRecord> {
  const { column, timeOf } = ORDERS[query.sortKey];
  const descending = query.direction === 'desc';
  const { value, id, inclusive } = beginning(query);
  const limit = query.limit === undefined ? ALL : Math.max(1, query.limit);
  const found = threads.list(
    { column, descending, inclusive },
    {
      live: query.archived ? 0 : 1,
      value,
      id,
      providers: filter(query.modelProviders),
      cwds: filter(query.cwds),
      sources: filter(
        query.sources?.flatMap((source) => (source === 'subAgent' ? SUB_AGENTS : source)) ?? null,
      ),
      originators: filter(query.originators),
      parentId: query.parentId,
      ancestorId: query.ancestorId,
      excludedIds: filter(query.excludedIds),
      limit: limit === ALL ? ALL : limit + 1,
    },
    query.searchTerm || null,
  );
  const more = limit !== ALL && found.length > limit;
  const data = more ? found.slice(0, -1) : found;
  const [first, last] = [data[0], data.at(-1)];
  const cursor = (thread: ThreadRecord, isIncluded: 0 | 1) =>
    encodeCursor(['threads', query.sortKey, timeOf(thread), thread.id, isIncluded]);
  return {
    data,
    nextCursor: more && last ? cursor(last, 0) : null,
    backwardsCursor: first ? cursor(first, 1) : null,
  };
}

function beginning({ cursor, direction, sortKey }: ThreadQuery): {
  value: number;
  id: string;
  inclusive: boolean;
} {
  if (cursor == null)
    return {
      value: direction === 'desc' ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER,
      id: '',
      inclusive: false,
    };
  const [name, key, value, id, inclusive] = decodeCursor(cursor, ['', '', 0, '', 0]);
  if (name !== 'threads' || key !== sortKey) throw invalidStoreCursor(cursor);
  return { value, id, inclusive: inclusive === 1 };
}

function filter(values: string[] | null): string | null {
  return values === null ? null : JSON.stringify(values);
}
