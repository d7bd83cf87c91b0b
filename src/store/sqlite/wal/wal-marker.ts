import { closeSync, openSync, readSync } from 'node:fs';
import type { Database, Statement } from 'better-sqlite3';
import type { WalMark } from './wal-mark.ts';

const SALTS_AT = 16;
const SALTS_BYTES = 8;

/**
 * Gives each WAL a mark of its own, soon after it has begun: SQLite begins the WAL anew, with other salts, once all of it is in the
 * database. So a WAL names the file that it belongs to.
 */
export class WalMarker {
  readonly #wal: string;
  readonly #db: Database;
  #mark: Statement<[]> | null = null;
  #read: Statement<[], WalMark> | null = null;
  /** SQLite has no locks on a WAL, so this may be closed. */
  #descriptor: number | null = null;
  #marked: string | null = null;

  constructor(db: Database, file: string) {
    this.#wal = `${file}-wal`;
    this.#db = db;
  }

  /** Call it after each commit, outside of a transaction. Never throws: a WAL without a mark works too. */
  committed(): void {
    try {
      const salts = this.#salts();
      if (salts === this.#marked) return;
      this.#mark ??= this.#db.prepare('UPDATE wal_mark SET before = token, token = randomblob(8) WHERE id = 1');
      this.#mark.run();
      // If the WAL has begun anew in between, the next commit marks it.
      if (this.#salts() === salts) this.#marked = salts;
    } catch {
      // The disk is full, or another process writes: the next commit tries again.
    }
  }

  /** Whether a database file with this mark is surely the one that the current WAL is for. A quick answer: false says nothing. */
  knows(token: string): boolean {
    this.#read ??= this.#db.prepare('SELECT lower(hex(token)) AS token, lower(hex(before)) AS before FROM wal_mark WHERE id = 1');
    const mark = this.#read.get();
    return mark?.token === token || mark?.before === token;
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #salts(): string {
    this.#descriptor ??= openSync(this.#wal, 'r');
    const bytes = Buffer.alloc(SALTS_BYTES);
    readSync(this.#descriptor, bytes, 0, SALTS_BYTES, SALTS_AT);
    return bytes.toString('hex');
  }
}
