import type { Database, Statement } from 'better-sqlite3';
import { IDS_BELOW } from './agent-rows.ts';
import { THREAD_COLUMNS, type ThreadRow } from './thread-row-codec.ts';
import { type Search, ThreadSearch } from './thread-search.ts';

/**
 * The parameters of a list of threads, in the terms of the table. Each filter is a JSON array, or
 * null for all.
 */
export interface ThreadListParams {
  live: 0 | 1;
  value: number;
  id: string;
  providers: string | null;
  cwds: string | null;
  sources: string | null;
  originators: string | null;
  parentId: string | null;
  ancestorId: string | null;
  excludedIds: string | null;
  limit: number;
}
export type ThreadOrder = {
  column: 'created_at' | 'updated_at' | 'recency_at';
  descending: boolean;
  inclusive: boolean;
};

const THREADS_HIT =
  '(SELECT value AS hit FROM json_each(@hits)) CROSS JOIN thread ON thread.id = hit';
const HOLDS_TERM =
  'EXISTS (SELECT 1 FROM thread_text WHERE thread_id = thread.id AND (instr(thread_text.name, @term) OR instr(thread_text.preview, @term)))';

/** The lists of threads of one database. */
export class ThreadLister {
  readonly #db: Database;
  readonly #search: ThreadSearch;
  readonly #statements = new Map<string, Statement<[ThreadListParams & Search], ThreadRow>>();

  constructor(db: Database) {
    this.#db = db;
    this.#search = new ThreadSearch(db);
  }

  list(order: ThreadOrder, params: ThreadListParams, searchTerm: string | null): ThreadRow[] {
    const search = searchTerm === null ? { term: null, hits: null } : this.#search.find(searchTerm);
    return this.#statement(order, search, params).all({ ...params, ...search });
  }

  /**
   * A search with few hits starts from the hits and sorts them. One with many follows the order and
   * compares each row.
   */
  #statement(
    { column, descending, inclusive }: ThreadOrder,
    { term, hits }: Search,
    { parentId, ancestorId }: Pick<ThreadListParams, 'parentId' | 'ancestorId'>,
  ): Statement<[ThreadListParams & Search], ThreadRow> {
    const direction = descending ? 'DESC' : 'ASC';
    const comparison = `${descending ? '<' : '>'}${inclusive ? '=' : ''}`;
    const key = [
      column,
      comparison,
      term !== null,
      hits !== null,
      parentId !== null,
      ancestorId !== null,
    ].join();
    let statement = this.#statements.get(key);
    if (statement === undefined) {
      statement = this.#db.prepare(
        `SELECT ${THREAD_COLUMNS} FROM ${hits === null ? 'thread' : THREADS_HIT}
         WHERE listed = 1 AND (archived_at IS NULL) = @live AND (${column}, id) ${comparison} (@value, @id)
           AND (@providers IS NULL OR provider IN (SELECT value FROM json_each(@providers)))
           AND (@cwds IS NULL OR cwd IN (SELECT value FROM json_each(@cwds)))
           AND (@sources IS NULL OR source_kind IN (SELECT value FROM json_each(@sources)))
           AND (@originators IS NULL OR originator IN (SELECT value FROM json_each(@originators)))
           ${parentId === null ? '' : 'AND parent_id = @parentId'}
           ${ancestorId === null ? '' : `AND id IN (${IDS_BELOW})`}
           AND (@excludedIds IS NULL OR id NOT IN (SELECT value FROM json_each(@excludedIds)))
           ${term !== null && hits === null ? `AND ${HOLDS_TERM}` : ''}
         ORDER BY ${column} ${direction}, id ${direction} LIMIT @limit`,
      );
      this.#statements.set(key, statement);
    }
    return statement;
  }
}
