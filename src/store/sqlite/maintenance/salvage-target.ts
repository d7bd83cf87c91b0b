import type { Database, Statement } from 'better-sqlite3';
import { blobHashes } from '../history/blobs.ts';

/** The new database of a salvage. */
export class SalvageTarget {
  readonly db: Database;
  readonly #inserts = new Map<string, Statement<[Record<string, unknown>]>>();

  constructor(db: Database) {
    this.db = db;
  }

  /** Returns false if the row does not fit: it has a wrong type, or it is there already. */
  insert(table: string, row: Record<string, unknown>): boolean {
    const columns = Object.keys(row).filter((column) => row[column] !== undefined);
    const key = `${table} ${columns.join()}`;
    let statement = this.#inserts.get(key);
    if (statement === undefined) {
      const values = columns.map((column) => `@${column}`).join(', ');
      statement = this.db.prepare(
        `INSERT OR IGNORE INTO ${table} (${columns.join(', ')}) VALUES (${values})`,
      );
      this.#inserts.set(key, statement);
    }
    try {
      return statement.run(row).changes === 1;
    } catch (error) {
      // The columns are strict, also with OR IGNORE.
      if (error instanceof Error && 'code' in error && error.code === 'SQLITE_CONSTRAINT_DATATYPE')
        return false;
      throw error;
    }
  }

  /** Records which blobs a text of a log names. */
  noteBlobs(logId: unknown, text: string): void {
    for (const hash of blobHashes(text)) this.insert('blob_use', { log_id: logId, hash });
  }
}
