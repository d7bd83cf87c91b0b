import type { Database, Statement } from 'better-sqlite3';

/** So many free pages stay, because the next writes need them. */
const PAGES_KEPT = 1024;
/** The pages that one call gives back, so that it takes a few milliseconds. */
const PAGES_AT_ONCE = 200;
const INCREMENTAL = 2;

/** The free pages of a database file, which go back to the system in small parts. */
export class FreePages {
  readonly #db: Database;
  readonly #count: Statement<[], number>;
  readonly #isIncremental: boolean;

  constructor(db: Database) {
    this.#db = db;
    this.#count = db
      .prepare<[], number>('SELECT freelist_count FROM pragma_freelist_count')
      .pluck();
    // Files of earlier versions get it by `heddle store vacuum` only: it rewrites the whole file.
    this.#isIncremental =
      db.prepare('SELECT auto_vacuum FROM pragma_auto_vacuum').pluck().get() === INCREMENTAL;
  }

  /**
   * Gives a part back. Returns false if there was nothing to give. Call it within a transaction.
   */
  giveBack(): boolean {
    if (!this.#isIncremental || Number(this.#count.get()) <= PAGES_KEPT) return false;
    this.#db.exec(`PRAGMA incremental_vacuum(${PAGES_AT_ONCE})`);
    return true;
  }
}
