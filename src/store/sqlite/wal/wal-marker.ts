import { closeSync, openSync, readSync } from 'node:fs';
import type { Database, Statement } from 'better-sqlite3';
import type { WalMark } from './wal-mark.ts';

const SALTS_AT = 16;
const SALTS_BYTES = 8;

/**
 * Gives each WAL a mark of its own, soon after it has begun: SQLite begins the WAL anew, with other
 * salts, once all of it is in the database. So a WAL names the file that it belongs to.
 */
export class WalMarker {
  readonly #wal: string;
  readonly #db: Database;
  #mark: Statement<[]> | null = null;
  #read: Statement<[], WalMark> | null = null;
  /** SQLite has no locks on a WAL, so this may be closed. */
  #descriptor: number | null = null;
  #marked: string | null = null;
  /** The newest mark that was surely of this database. */
  #last: WalMark | null;

  constructor(db: Database, file: string) {
    this.#wal = `${file}-wal`;
    this.#db = db;
    this.#last = this.#current() ?? null;
  }

  /**
   * Call it after each commit, outside of a transaction. Never throws: a WAL without a mark works
   * too.
   */
  committed(): void {
    try {
      const salts = this.#salts();
      if (salts === this.#marked) return;
      this.#mark ??= this.#db.prepare(
        'UPDATE wal_mark SET before = token, token = randomblob(8) WHERE id = 1',
      );
      this.#mark.run();
      this.#last = this.#current() ?? this.#last;
      // If the WAL has begun anew in between, the next commit marks it.
      if (this.#salts() === salts) this.#marked = salts;
    } catch {
      // The disk is full, or another process writes: the next commit tries again.
    }
  }

  /**
   * Whether a database file with this mark is surely the one that the current WAL is for. A quick
   * answer: false says nothing.
   */
  knows(token: string): boolean {
    const mark = this.#current();
    // SQLite also reads from a file that was copied over this one: its mark does not follow the
    // last one.
    if (mark !== undefined && follows(mark, this.#last)) this.#last = mark;
    return this.#last?.token === token || this.#last?.before === token;
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #current(): WalMark | undefined {
    this.#read ??= this.#db.prepare(
      'SELECT lower(hex(token)) AS token, lower(hex(before)) AS before FROM wal_mark WHERE id = 1',
    );
    return this.#read.get();
  }

  #salts(): string {
    this.#descriptor ??= openSync(this.#wal, 'r');
    const bytes = Buffer.alloc(SALTS_BYTES);
    readSync(this.#descriptor, bytes, 0, SALTS_BYTES, SALTS_AT);
    return bytes.toString('hex');
  }
}

function follows(mark: WalMark, last: WalMark | null): boolean {
  return (
    last === null || [last.token, last.before].includes(mark.token) || mark.before === last.token
  );
}
