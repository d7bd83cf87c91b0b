import type { Database, Options } from 'better-sqlite3';

/** Opens a database file. */
export type Connect = (file: string, options?: Options) => Database;

/**
 * Loads better-sqlite3. Loading is slow, so it happens at the first use of a store. No connection waits for the locks of others,
 * which would block the thread: the queue of the store does.
 */
export async function loadSqlite(): Promise<Connect> {
  const { default: BetterSqlite } = await import('better-sqlite3');
  return (file, options) => neverCollect(new BetterSqlite(file, { timeout: 0, ...options }));
}

const kept: unknown[] = [];
const watched = new WeakSet<object>();

/**
 * Keeps a database and all its statements from ever being garbage collected. With better-sqlite3 12 under Node 24 the
 * finalizer of such an object aborts the whole process ("Assertion failed: (env) != nullptr"). The memory is bounded: a process
 * opens few connections, each has about sixty statements, and repeated SQL is prepared once or goes through `exec`.
 */
export function neverCollect(db: Database): Database {
  for (const symbol of Object.getOwnPropertySymbols(db)) {
    const native: unknown = Reflect.get(db, symbol);
    if (typeof native !== 'object' || native === null || !('prepare' in native)) continue;
    kept.push(db);
    watchStatements(Object.getPrototypeOf(native) as Preparer);
  }
  return db;
}

/** better-sqlite3's native database object. It makes every statement, also those of `pragma`. */
interface Preparer {
  prepare(...args: unknown[]): unknown;
}

function watchStatements(prototype: Preparer): void {
  if (watched.has(prototype)) return;
  watched.add(prototype);
  const { prepare } = prototype;
  prototype.prepare = function (this: Preparer, ...args) {
    const statement = prepare.apply(this, args);
    kept.push(statement);
    return statement;
  };
}
