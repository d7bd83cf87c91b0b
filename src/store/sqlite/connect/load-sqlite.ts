import type { Database, Options } from 'better-sqlite3';
import { hasErrorCode } from '../../../base/system-error-code.ts';
import { StoreError } from '../../store-error.ts';
import { connectWithNode } from './connect-with-node.ts';
import { type NodeVersions, nativeBuildProblem } from './native-build-problem.ts';

/** Opens a database file. */
export type Connect = (file: string, options?: Options) => Database;

/**
 * Loads better-sqlite3. If it is not built for this Node, uses the SQLite of Node instead. Rejects
 * with a StoreError if heddle cannot use that either. Without versions, rejects with
 * better-sqlite3's own error. Loading is slow, so it happens at the first use of a store. No
 * connection waits for the locks of others, which would block the thread: the queue of the store
 * does.
 */
export async function loadSqlite(versions: NodeVersions | null): Promise<Connect> {
  const { default: BetterSqlite } = await import('better-sqlite3');
  const connect: Connect = (file, options) =>
    neverCollect(new BetterSqlite(file, { timeout: 0, ...options }));
  try {
    connect(':memory:').close();
    return connect;
  } catch (error) {
    if (versions === null || !isMissing(error)) throw error;
    const problem = await nativeBuildProblem(versions);
    if (problem !== null) throw new StoreError('store_failed', problem, {}, { cause: error });
    const { DatabaseSync } = await import('node:sqlite');
    const connectNode = connectWithNode(DatabaseSync);
    return (file, options) => connectNode(file, { timeout: 0, ...options });
  }
}

/**
 * Opens a database in memory that has these bytes. Resolves with null if better-sqlite3 is not
 * built for this Node: no other SQLite can.
 */
export async function openCopy(bytes: Buffer): Promise<Database | null> {
  const { default: BetterSqlite } = await import('better-sqlite3');
  try {
    return neverCollect(new BetterSqlite(bytes));
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Whether the native part of better-sqlite3 is missing, or was built for another Node. */
function isMissing(error: unknown): boolean {
  return (
    hasErrorCode(error, ['ERR_DLOPEN_FAILED']) ||
    (error instanceof Error && error.message.startsWith('Could not locate the bindings'))
  );
}

const kept: unknown[] = [];
const watched = new WeakSet<object>();

/**
 * Keeps a database and all its statements from ever being garbage collected. With better-sqlite3 12
 * under Node 24 the finalizer of such an object aborts the whole process ("Assertion failed: (env)
 * != nullptr"). The memory is bounded: a process opens few connections, each has about sixty
 * statements, and repeated SQL is prepared once or goes through `exec`.
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
