import type { DatabaseSync, SqliteValue, StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { Database, Options } from 'better-sqlite3';
import { resultCodeName } from './result-code-name.ts';

const BUSY_MS_DEFAULT = 5_000;
/** The pages that a backup copies at a time. */
const BACKUP_PAGES = 2_000;

/**
 * Opens databases with the SQLite of this Node, as better-sqlite3 would: with the part of its
 * interface that the store uses.
 */
export function connectWithNode(
  Sqlite: typeof DatabaseSync,
): (file: string, options?: Options) => Database {
  return (file, options) => new NodeDatabase(Sqlite, file, options) as unknown as Database;
}

/** A database of `node:sqlite` with the interface and the errors of better-sqlite3. */
class NodeDatabase {
  readonly #db: DatabaseSync;

  constructor(
    Sqlite: typeof DatabaseSync,
    file: string,
    { readonly = false, fileMustExist = false, timeout = BUSY_MS_DEFAULT }: Options = {},
  ) {
    this.#db = translated(
      () =>
        new Sqlite(fileMustExist ? existing(file, readonly) : file, {
          readOnly: readonly,
          timeout,
        }),
    );
  }

  get open(): boolean {
    return this.#db.isOpen;
  }

  get inTransaction(): boolean {
    return this.#db.isTransaction;
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close();
  }

  exec(sql: string): this {
    translated(() => this.#db.exec(sql));
    return this;
  }

  function(
    name: string,
    options: { deterministic?: boolean },
    call: (...values: SqliteValue[]) => SqliteValue,
  ): this {
    this.#db.function(name, options, call);
    return this;
  }

  pragma(source: string, { simple = false } = {}): unknown {
    const statement = this.prepare(`PRAGMA ${source}`);
    return simple ? statement.pluck().get() : statement.all();
  }

  prepare(sql: string): NodeStatement {
    return new NodeStatement(translated(() => this.#db.prepare(sql)));
  }

  /**
   * Copies the database to a file, some pages at a time. `progress` returns how many pages are
   * copied next.
   */
  async backup(
    file: string,
    { progress }: { progress: (pages: { totalPages: number; remainingPages: number }) => number },
  ): Promise<void> {
    const { backup } = await import('node:sqlite');
    await backup(this.#db, file, { rate: BACKUP_PAGES, progress: (pages) => void progress(pages) });
  }

  /**
   * Returns a function that runs `work` in a transaction, and one for each way to begin it. Within
   * a transaction, it is a savepoint.
   */
  transaction<Args extends unknown[], T>(work: (...args: Args) => T) {
    const by =
      (begin: string) =>
      (...args: Args): T =>
        this.#transact(begin, () => work(...args));
    return Object.assign(by('BEGIN'), {
      deferred: by('BEGIN DEFERRED'),
      immediate: by('BEGIN IMMEDIATE'),
      exclusive: by('BEGIN EXCLUSIVE'),
    });
  }

  #transact<T>(begin: string, work: () => T): T {
    const isNested = this.inTransaction;
    this.exec(isNested ? 'SAVEPOINT nested' : begin);
    try {
      const result = work();
      this.exec(isNested ? 'RELEASE nested' : 'COMMIT');
      return result;
    } catch (error) {
      // Some errors of SQLite have rolled the transaction back.
      if (this.inTransaction)
        this.exec(isNested ? 'ROLLBACK TO nested; RELEASE nested' : 'ROLLBACK');
      throw error;
    }
  }
}

class NodeStatement {
  readonly #statement: StatementSync;
  #plucks = false;

  constructor(statement: StatementSync) {
    this.#statement = statement;
    statement.setAllowUnknownNamedParameters(true);
  }

  /** Makes rows arrays. */
  raw(): this {
    this.#statement.setReturnArrays(true);
    return this;
  }

  /** Makes rows their first column. */
  pluck(): this {
    this.#plucks = true;
    return this.raw();
  }

  get(...params: unknown[]): unknown {
    const row = translated(() => this.#statement.get(...params.flat()));
    return row === undefined ? undefined : this.#shown(row);
  }

  all(...params: unknown[]): unknown[] {
    const rows = translated(() => this.#statement.all(...params.flat()));
    return this.#plucks ? rows.map((row) => this.#shown(row)) : rows;
  }

  *iterate(...params: unknown[]): Generator<unknown> {
    const rows = translated(() => this.#statement.iterate(...params.flat()));
    for (;;) {
      const { done = false, value } = translated(() => rows.next());
      if (done) return;
      yield this.#shown(value);
    }
  }

  run(...params: unknown[]): unknown {
    return translated(() => this.#statement.run(...params.flat()));
  }

  #shown(row: unknown): unknown {
    return this.#plucks && Array.isArray(row) ? row[0] : row;
  }
}

/** An address that SQLite opens only if the file exists. */
function existing(file: string, readonly: boolean): URL {
  const url = pathToFileURL(file);
  url.searchParams.set('mode', readonly ? 'ro' : 'rw');
  return url;
}

/** Runs `work`, and gives an error of SQLite the code that better-sqlite3 gives it. */
function translated<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && typeof error.errcode === 'number')
      Object.assign(error, { code: resultCodeName(error.errcode) });
    throw error;
  }
}
