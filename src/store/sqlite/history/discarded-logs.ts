import type { Database, Statement } from 'better-sqlite3';

/** The most that one call of `collect` removes, so that it takes a few milliseconds. */
const ROWS_MAX = 200;
const BYTES_MAX = 4 * 1024 * 1024;

/**
 * Logs that no history has any more. A log is discarded in the transaction that removes it from the
 * last history; after that nothing refers to it. Its data is removed later and in parts, by any
 * process.
 */
export class DiscardedLogs {
  readonly #discard: Statement<[{ logId: number }]>;
  readonly #next: Statement<[], number>;
  readonly #entries: Statement<[number, number], { ordinal: number; bytes: number }>;
  readonly #dropEntries: Statement<[number, number]>;
  readonly #blobs: Statement<[number, number], { hash: string; bytes: number }>;
  readonly #dropUse: Statement<[number, string]>;
  readonly #dropBlob: Statement<[{ hash: string }]>;
  readonly #forget: Statement<[number]>;
  readonly #dropLog: Statement<[number]>;

  constructor(db: Database) {
    this.#discard = db.prepare(
      `INSERT OR IGNORE INTO discarded_log (log_id) SELECT id FROM log WHERE id = @logId
         AND NOT EXISTS (SELECT 1 FROM shared_segment WHERE log_id = @logId) AND NOT EXISTS (SELECT 1 FROM history WHERE log_id = @logId)
         AND NOT EXISTS (SELECT 1 FROM held_log WHERE log_id = @logId)`,
    );
    this.#next = db.prepare<[], number>('SELECT log_id FROM discarded_log LIMIT 1').pluck();
    this.#entries = db.prepare(
      'SELECT ordinal, octet_length(payload) AS bytes FROM entry WHERE log_id = ? ORDER BY ordinal LIMIT ?',
    );
    this.#dropEntries = db.prepare('DELETE FROM entry WHERE log_id = ? AND ordinal <= ?');
    this.#blobs = db.prepare(
      'SELECT hash, octet_length(content) AS bytes FROM blob_use JOIN blob USING (hash) WHERE log_id = ? LIMIT ?',
    );
    this.#dropUse = db.prepare('DELETE FROM blob_use WHERE log_id = ? AND hash = ?');
    this.#dropBlob = db.prepare(
      'DELETE FROM blob WHERE hash = @hash AND NOT EXISTS (SELECT 1 FROM blob_use WHERE hash = @hash)',
    );
    this.#forget = db.prepare('DELETE FROM discarded_log WHERE log_id = ?');
    this.#dropLog = db.prepare('DELETE FROM log WHERE id = ?');
  }

  /** Discards those of the logs that nothing holds any more. Call it within a transaction. */
  discard(logIds: Iterable<number>): void {
    for (const logId of logIds) this.#discard.run({ logId });
  }

  /**
   * Removes a part of a discarded log's data. Returns false if there was none. Call it within a
   * transaction.
   */
  collect(): boolean {
    const logId = this.#next.get();
    if (logId === undefined) return false;
    if (!this.#collectEntries(logId) && !this.#collectBlobs(logId)) {
      this.#forget.run(logId);
      this.#dropLog.run(logId);
    }
    return true;
  }

  #collectEntries(logId: number): boolean {
    const last = withinBytes(this.#entries.all(logId, ROWS_MAX)).at(-1);
    if (last !== undefined) this.#dropEntries.run(logId, last.ordinal);
    return last !== undefined;
  }

  #collectBlobs(logId: number): boolean {
    const blobs = withinBytes(this.#blobs.all(logId, ROWS_MAX));
    for (const { hash } of blobs) {
      this.#dropUse.run(logId, hash);
      this.#dropBlob.run({ hash });
    }
    return blobs.length > 0;
  }
}

/** The first rows that together stay within the limit, at least one. */
function withinBytes<T extends { bytes: number }>(rows: T[]): T[] {
  let bytes = 0;
  return rows.filter((row, index) => {
    bytes += row.bytes;
    return index === 0 || bytes <= BYTES_MAX;
  });
}
