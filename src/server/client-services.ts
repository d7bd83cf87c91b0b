import { FileWatches } from '../files/file-watches.ts';
import type { ProcessServices } from '../handlers/client-processes/client-process.ts';
import { ClientProcesses } from '../handlers/client-processes/client-processes.ts';
import { FileSearches, type FileSearchesOptions } from '../search/file-searches.ts';
import type { Clients } from './clients.ts';

export interface ClientServicesOptions
  extends Pick<FileSearchesOptions, 'clock' | 'log' | 'processes' | 'pace' | 'env' | 'cwd'>,
    Pick<ProcessServices, 'proxies'> {
  clients: Clients;
  /** The script that loads workers. Null: searches rank paths in this thread. */
  workerScript: string | null;
}

/**
 * The things beside threads that a client can start, such as watches. They belong to its
 * connection, and end with it.
 */
export class ClientServices {
  readonly fileWatches: FileWatches;
  readonly fileSearches: FileSearches;
  readonly clientProcesses: ClientProcesses;

  constructor(deps: ClientServicesOptions) {
    const { clients, workerScript } = deps;
    const drained = (connection: number) => clients.drained({ connection });
    this.fileWatches = new FileWatches({
      ...deps,
      notify: (connection, changed) => clients.publish({ connection }, 'fs/changed', changed),
      drained,
    });
    this.fileSearches = new FileSearches({
      ...deps,
      script: workerScript,
      notify: (connection, method, params) => clients.publish({ connection }, method, params),
      drained,
    });
    this.clientProcesses = new ClientProcesses(deps, (connection) => clients.has(connection));
    for (const connection of clients.ids()) this.open(connection);
  }

  /** Must be called before a new connection can start anything. */
  open(connection: number): void {
    this.fileWatches.open(connection);
    this.fileSearches.open(connection);
  }

  /** Resolves when the processes that a connection has started have ended. */
  ended(connection: number): Promise<void> {
    return this.clientProcesses.ended(connection);
  }

  /** Ends the processes that a connection's open requests wait for. */
  abandon(connection: number): void {
    void this.clientProcesses.kill(connection);
  }

  /** Ends all that a connection has started. */
  end(connection: number): void {
    this.fileWatches.endConnection(connection);
    this.fileSearches.endConnection(connection);
    void this.clientProcesses.kill(connection);
  }
}
