import type { Database, Statement } from 'better-sqlite3';
import type { DiscardedLogs } from './discarded-logs.ts';

/**
 * Logs of the file that ephemeral threads hold, and logs of staged histories: those that are stored
 * in parts, before the threads that will have them. Other processes cannot see either. So the logs
 * are recorded here, with the process as the owner, until it ends or dies.
 */
export class HeldLogs {
  readonly #discarded: DiscardedLogs;
  readonly #add: Statement<[string, string, number]>;
  readonly #remove: Statement<[string, string], { log_id: number }>;
  readonly #removeAll: Statement<[string], { log_id: number }>;
  readonly #find: Statement<[string, string], number>;
  readonly #owners: Statement<[], string>;

  constructor(db: Database, discarded: DiscardedLogs) {
    this.#discarded = discarded;
    this.#add = db.prepare('INSERT INTO held_log (owner, thread_id, log_id) VALUES (?, ?, ?)');
    this.#remove = db.prepare(
      'DELETE FROM held_log WHERE owner = ? AND thread_id = ? RETURNING log_id',
    );
    this.#removeAll = db.prepare('DELETE FROM held_log WHERE owner = ? RETURNING log_id');
    this.#find = db
      .prepare<[string, string], number>(
        'SELECT log_id FROM held_log WHERE owner = ? AND thread_id = ? LIMIT 1',
      )
      .pluck();
    this.#owners = db.prepare<[], string>('SELECT DISTINCT owner FROM held_log').pluck();
  }

  /** Makes these the only logs that a thread holds. Call it within a transaction. */
  replace(owner: string, threadId: string, logIds: readonly number[]): void {
    const before = this.#remove.all(owner, threadId);
    for (const logId of logIds) this.#add.run(owner, threadId, logId);
    this.#discarded.discard(before.map((row) => row.log_id));
  }

  /** Releases all logs that an owner's threads hold. Call it within a transaction. */
  releaseAll(owner: string): void {
    this.#discarded.discard(this.#removeAll.all(owner).map((row) => row.log_id));
  }

  logOf(owner: string, threadId: string): number | null {
    return this.#find.get(owner, threadId) ?? null;
  }

  owners(): string[] {
    return this.#owners.all();
  }
}
