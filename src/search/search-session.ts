import { type Clock, sleep } from '../base/clock.ts';
import type { Pace } from '../base/pace.ts';
import type { ServerNotifications } from '../protocol/generated/types.ts';
import type { FileSearch } from './file-search.ts';

/**
 * While the files are still being listed, the matches among those that are known are sent so often.
 */
const PARTIAL_MS = 200;

type SearchNotification =
  | 'fuzzyFileSearch/sessionUpdated'
  | 'fuzzyFileSearch/sessionCompleted'
  | 'warning';

/** The clients that search, by connection. */
export interface SearchClients {
  notify<Method extends SearchNotification>(
    connection: number,
    method: Method,
    params: ServerNotifications[Method],
  ): void;
  /** Null while the client keeps up with its notifications; else resolves once it has caught up. */
  drained: (connection: number) => Promise<void> | null;
}

interface SessionOptions extends SearchClients {
  clock: Clock;
  pace: Pace;
  connection: number;
  sessionId: string;
  search: FileSearch;
  /** The index of the search is lost, so that no query can be answered. */
  onLost: (error: unknown) => void;
}

/** A client's search that goes on: each query replaces the one before it. */
export class SearchSession {
  readonly connection: number;
  readonly sessionId: string;
  readonly #options: SessionOptions;
  /** Ends the work for the current query. */
  #current = new AbortController();

  constructor(options: SessionOptions) {
    this.connection = options.connection;
    this.sessionId = options.sessionId;
    this.#options = options;
  }

  /** Begins to search for a query, and to notify the client of what it finds. */
  query(query: string): void {
    this.#current.abort();
    this.#current = new AbortController();
    void this.#options.pace.during(
      this.#answer(query, this.#current.signal).catch(this.#options.onLost),
    );
  }

  /** The client gets no more notifications. */
  end(): void {
    this.#current.abort();
    this.#options.search.end();
  }

  async #answer(query: string, signal: AbortSignal): Promise<void> {
    const { connection, sessionId, search, notify, drained } = this.#options;
    for (let isLast = false; !isLast; ) {
      await this.#wait(signal);
      isLast = search.isListed;
      const files = await search.rank(query);
      for (let backlog = drained(connection); backlog !== null; backlog = drained(connection))
        await backlog;
      if (files === null || signal.aborted) return;
      notify(connection, 'fuzzyFileSearch/sessionUpdated', { sessionId, query, files });
    }
    notify(connection, 'fuzzyFileSearch/sessionCompleted', { sessionId });
  }

  /** Waits until the files are listed, but not for long. */
  async #wait(signal: AbortSignal): Promise<void> {
    const { search, clock } = this.#options;
    if (search.isListed) return;
    const waited = new AbortController();
    await Promise.race([
      search.listed,
      sleep(clock, PARTIAL_MS, AbortSignal.any([signal, waited.signal])),
    ]);
    waited.abort();
  }
}
