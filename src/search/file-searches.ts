import { isAbsolute, resolve } from 'node:path';
import type { Timer } from '../base/clock.ts';
import { KeyedQueue } from '../base/keyed-queue.ts';
import { Once } from '../base/loading/once.ts';
import type { Pace } from '../base/pace.ts';
import {
  emptySearchField,
  longSearchQuery,
  searchFailed,
  searchSessionNotFound,
  searchUnavailable,
  tooManyRoots,
  tooManySearchSessions,
} from '../protocol/errors/search-errors.ts';
import type { FuzzyFileSearchResult } from '../protocol/generated/types.ts';
import { FileSearch, type FileSearchOptions } from './file-search.ts';
import { ripgrepPath } from './ripgrep-path.ts';
import { type SearchClients, SearchSession } from './search-session.ts';
import type { PathIndex } from './worker/path-index.ts';

const SESSIONS_MAX = 32;
const ROOTS_MAX = 64;
/**
 * A query that is much longer than a path, such as a pasted text, would hold up the searches of all
 * clients.
 */
const QUERY_CHARS_MAX = 1_000;
/** The worker of the indexes ends when there was no search for so long. */
const IDLE_MS = 30_000;

/** Makes indexes of paths. */
interface Indexes {
  open(roots: readonly string[]): PathIndex;
  /** Frees what they share. */
  close(): Promise<void>;
}

export interface FileSearchesOptions
  extends SearchClients,
    Omit<FileSearchOptions, 'index' | 'program' | 'onListed'> {
  pace: Pace;
  /** Folders that are relative are relative to this one. Absolute. */
  cwd: string;
  /** The script that loads workers. Null: paths are ranked in this thread. */
  script: string | null;
  /** Returns the path of ripgrep; null: it is not installed. By default `ripgrepPath`. */
  program?: () => string | null;
}

/** The file searches of all connections. A session belongs to its connection and ends with it. */
export class FileSearches {
  readonly #deps: FileSearchesOptions;
  readonly #sessions = new Map<number, Map<string, SearchSession>>();
  /**
   * By connection and folder: why only a part of its files is known, as the connection was told.
   */
  readonly #incomplete = new Map<number, Map<string, string>>();
  /** Aborts when the connection ends. */
  readonly #gone = new Map<number, AbortController>();
  /** Controllers that end the searches for one query, by connection and token. */
  readonly #cancels = new Map<string, AbortController>();
  /** The searches for one query that run. */
  readonly #running = new Set<FileSearch>();
  /** A client's searches for one query run one after another. */
  readonly #queue = new KeyedQueue();
  readonly #indexes: Once<Indexes>;
  #idle: Timer | null = null;
  #isClosed = false;

  constructor(deps: FileSearchesOptions) {
    this.#deps = deps;
    this.#indexes = new Once(() => createIndexes(deps.script));
  }

  /** Must be called before a connection can search. */
  open(connection: number): void {
    this.#sessions.set(connection, new Map());
    this.#incomplete.set(connection, new Map());
    this.#gone.set(connection, new AbortController());
  }

  /**
   * Searches for one query. A later search of the connection with the same token ends this one,
   * which then finds nothing.
   */
  async find(
    connection: number,
    { query, roots, token }: { query: string; roots: string[]; token: string | null },
  ) {
    if (query.trim() === '' || roots.length === 0) return [];
    checkRoots(roots);
    checkQuery(query);
    const cancel = new AbortController();
    const gone = this.#gone.get(connection)?.signal;
    const key = `${connection}:${token}`;
    if (token !== null) {
      this.#cancels.get(key)?.abort();
      this.#cancels.set(key, cancel);
    }
    try {
      return await this.#queue.run(`${connection}`, () =>
        this.#find(
          { query, roots, connection },
          AbortSignal.any([cancel.signal, ...(gone === undefined ? [] : [gone])]),
        ),
      );
    } finally {
      if (this.#cancels.get(key) === cancel) this.#cancels.delete(key);
    }
  }

  /**
   * Begins a session, or replaces the one with the same id. Lists the files once. The returned
   * function begins to notify the client.
   */
  start(connection: number, sessionId: string, roots: string[]): () => void {
    const sessions = this.#sessions.get(connection);
    if (sessionId === '') throw emptySearchField('sessionId');
    if (roots.length === 0) throw emptySearchField('roots');
    checkRoots(roots);
    // The connection has ended.
    if (sessions === undefined) return () => {};
    sessions.get(sessionId)?.end();
    sessions.delete(sessionId);
    if (sessions.size >= SESSIONS_MAX) throw tooManySearchSessions(SESSIONS_MAX);
    const search = this.#search(roots, connection);
    const session = new SearchSession({
      ...this.#deps,
      connection,
      sessionId,
      search,
      onLost: (error) => this.#lose(session, error),
    });
    sessions.set(sessionId, session);
    // Tells the client when the files are listed, even before its first query.
    return () => session.query('');
  }

  /** Returns a function that begins to search for the query in place of the session's last one. */
  update(connection: number, sessionId: string, query: string): () => void {
    checkQuery(query);
    const session = this.#sessions.get(connection)?.get(sessionId);
    if (session === undefined) throw searchSessionNotFound(sessionId);
    return () => session.query(query);
  }

  /** Ends a session, if there is one. The client gets no more of its notifications. */
  stop(connection: number, sessionId: string): void {
    this.#sessions.get(connection)?.get(sessionId)?.end();
    this.#sessions.get(connection)?.delete(sessionId);
    this.#closeWhenIdle();
  }

  /** Ends all searches of a connection that has ended. */
  endConnection(connection: number): void {
    for (const session of this.#sessions.get(connection)?.values() ?? []) session.end();
    this.#sessions.delete(connection);
    this.#incomplete.delete(connection);
    this.#gone.get(connection)?.abort();
    this.#gone.delete(connection);
    this.#closeWhenIdle();
  }

  /** Ends all searches. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const connection of [...this.#sessions.keys()]) this.endConnection(connection);
    for (const search of this.#running) search.end();
    await this.#closeIndexes();
  }

  async #find(
    { query, roots, connection }: { query: string; roots: string[]; connection: number },
    signal: AbortSignal,
  ): Promise<FuzzyFileSearchResult[]> {
    if (signal.aborted) return [];
    const search = this.#search(roots, connection);
    this.#running.add(search);
    signal.addEventListener('abort', () => search.end(), { once: true });
    try {
      await this.#deps.pace.during(search.listed);
      const files = await this.#deps.pace.during(search.rank(query));
      if (this.#isClosed) throw searchFailed('the server is ending');
      return search.hasEnded ? [] : (files ?? []);
    } catch (error) {
      if (this.#isClosed) throw error;
      this.#deps.log.error({ err: error }, LOST);
      throw searchFailed(reasonOf(error));
    } finally {
      search.end();
      this.#running.delete(search);
      this.#closeWhenIdle();
    }
  }

  /** Throws an RpcError if ripgrep is not installed. */
  #search(roots: string[], connection: number): FileSearch {
    const { cwd, program: find = ripgrepPath } = this.#deps;
    const program = find();
    if (program === null) throw searchUnavailable();
    this.#idle?.clear();
    const folders = roots.map((root) => (isAbsolute(root) ? root : resolve(cwd, root)));
    return new FileSearch(folders, {
      ...this.#deps,
      program,
      index: async (all) => (await this.#indexes.get()).open(all),
      onListed: (folder, missing) => this.#tellIncomplete(connection, folder, missing),
    });
  }

  /** Ends a session whose index is lost, so that the client's next request about it is refused. */
  #lose(session: SearchSession, error: unknown): void {
    const { connection, sessionId } = session;
    this.#deps.log.error({ err: error }, LOST);
    if (this.#sessions.get(connection)?.get(sessionId) !== session) return;
    this.stop(connection, sessionId);
    this.#warn(
      connection,
      `The file search ${sessionId} has ended, because ${reasonOf(error)}. Start it again.`,
    );
  }

  /**
   * Warns if only a part of the files in a folder is known; again only after a listing with another
   * result.
   */
  #tellIncomplete(connection: number, folder: string, missing: string | null): void {
    const told = this.#incomplete.get(connection);
    if (missing === null || told === undefined) return void told?.delete(folder);
    if (told.get(folder) === missing) return;
    told.set(folder, missing);
    this.#warn(connection, `Searches know only a part of the files in ${folder}: ${missing}.`);
  }

  /** Sends a warning for the user. */
  #warn(connection: number, message: string): void {
    this.#deps.log.warn({ message }, 'a file search is not complete');
    this.#deps.notify(connection, 'warning', { threadId: null, message });
  }

  #closeWhenIdle(): void {
    this.#idle?.clear();
    const isIdle =
      this.#running.size === 0 && [...this.#sessions.values()].every(({ size }) => size === 0);
    if (isIdle) this.#idle = this.#deps.clock.setTimer(() => void this.#closeIndexes(), IDLE_MS);
  }

  async #closeIndexes(): Promise<void> {
    this.#idle?.clear();
    const indexes = this.#indexes.made;
    this.#indexes.forget();
    await (await indexes)?.close();
  }
}

const LOST = 'the index of a file search is lost';

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function checkQuery(query: string): void {
  if (query.length > QUERY_CHARS_MAX)
    throw longSearchQuery({ maxChars: QUERY_CHARS_MAX, actualChars: query.length });
}

function checkRoots(roots: readonly string[]): void {
  if (roots.length > ROOTS_MAX) throw tooManyRoots(ROOTS_MAX);
}

/** The code that ranks is loaded at the first search. */
async function createIndexes(script: string | null): Promise<Indexes> {
  if (script !== null) {
    const { IndexWorker } = await import('./worker/index-worker.ts');
    return new IndexWorker(script);
  }
  const { LocalPathIndex } = await import('./worker/path-index.ts');
  return { open: (roots) => new LocalPathIndex(roots), close: async () => {} };
}
