import type { Database, Statement } from 'better-sqlite3';
import { Damage } from '../connect/as-store-error.ts';

/**
 * A segment of a history. `last` is null for the thread's own log, which ends at the thread's tip.
 */
export interface SegmentRow {
  logId: number;
  last: number | null;
}

/** A segment that histories share, and the id of the one before it; 0: there is none. */
interface SharedRow {
  beforeId: number;
  logId: number;
  last: number;
}

/**
 * The segments of the histories of one database. Histories share their beginnings, so that a fork
 * of a fork adds one row. The one before a segment has a smaller id, so that each history ends,
 * also in a damaged database.
 */
export class SegmentRows {
  readonly #find: Statement<[number, number, number], number>;
  readonly #add: Statement<[number, number, number]>;
  readonly #set: Statement<[string, number, number]>;
  readonly #own: Statement<[string], { beforeId: number; logId: number }>;
  readonly #chain: Statement<[number], SharedRow>;
  readonly #remove: Statement<[string], { beforeId: number; logId: number }>;
  readonly #removeUnused: Statement<[{ id: number }], { beforeId: number; logId: number }>;

  constructor(db: Database) {
    this.#find = db
      .prepare<[number, number, number], number>(
        'SELECT id FROM shared_segment WHERE before_id = ? AND log_id = ? AND last_ordinal = ? LIMIT 1',
      )
      .pluck();
    this.#add = db.prepare(
      'INSERT INTO shared_segment (before_id, log_id, last_ordinal) VALUES (?, ?, ?)',
    );
    this.#set = db.prepare('INSERT INTO history (thread_id, before_id, log_id) VALUES (?, ?, ?)');
    this.#own = db.prepare(
      'SELECT before_id AS beforeId, log_id AS logId FROM history WHERE thread_id = ?',
    );
    this.#chain = db.prepare(
      `WITH RECURSIVE chain (id, before_id, log_id, last_ordinal) AS (
         SELECT id, before_id, log_id, last_ordinal FROM shared_segment WHERE id = ?
         UNION ALL
         SELECT s.id, s.before_id, s.log_id, s.last_ordinal FROM chain JOIN shared_segment AS s ON s.id = chain.before_id AND s.id < chain.id
       ) SELECT before_id AS beforeId, log_id AS logId, last_ordinal AS last FROM chain`,
    );
    this.#remove = db.prepare(
      'DELETE FROM history WHERE thread_id = ? RETURNING before_id AS beforeId, log_id AS logId',
    );
    this.#removeUnused = db.prepare(
      `DELETE FROM shared_segment WHERE id = @id
         AND NOT EXISTS (SELECT 1 FROM shared_segment WHERE before_id = @id) AND NOT EXISTS (SELECT 1 FROM history WHERE before_id = @id)
       RETURNING before_id AS beforeId, log_id AS logId`,
    );
  }

  /** Sets the history of a thread that has none: closed segments, and its own log after them. */
  set(
    threadId: string,
    segments: readonly { logId: number; last: number }[],
    ownLogId: number,
  ): void {
    let beforeId = 0;
    for (const { logId, last } of segments) {
      beforeId =
        this.#find.get(beforeId, logId, last) ??
        Number(this.#add.run(beforeId, logId, last).lastInsertRowid);
    }
    this.#set.run(threadId, beforeId, ownLogId);
  }

  /**
   * Removes a thread's history, and what only it has. Returns the ids of the logs that it no longer
   * holds.
   */
  remove(threadId: string): number[] {
    const own = this.#remove.get(threadId);
    if (own === undefined) return [];
    const logIds = [own.logId];
    for (let removed = this.#removeUnused.get({ id: own.beforeId }); removed !== undefined; ) {
      logIds.push(removed.logId);
      removed = this.#removeUnused.get({ id: removed.beforeId });
    }
    return logIds;
  }

  /**
   * The segments of a thread's history, oldest first. Empty if it has none. Throws Damage if part
   * of them is missing.
   */
  list(threadId: string): SegmentRow[] {
    const own = this.#own.get(threadId);
    if (own === undefined) return [];
    const shared = own.beforeId === 0 ? [] : this.#chain.all(own.beforeId);
    if ((shared.at(-1)?.beforeId ?? own.beforeId) !== 0)
      throw new Damage('part of a history is missing');
    return [
      ...shared.reverse().map(({ logId, last }) => ({ logId, last })),
      { logId: own.logId, last: null },
    ];
  }
}
