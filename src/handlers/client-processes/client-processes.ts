import { duplicateProcess, processNotFound, processNotStarted, tooManyProcesses } from '../../protocol/rpc-error.ts';
import { ClientProcess, type ClientProcessDeps, type ClientProcessSpec, ownerOf } from './client-process.ts';

/** How many processes a connection can have at once. */
const PROCESSES_MAX = 200;

export interface ClientProcessesDeps extends ClientProcessDeps {
  /** Whether there still is such a connection. */
  isConnected: (connection: number) => boolean;
}

/** What a client calls a process: by which word, and how. */
export interface ProcessName {
  what: 'process id' | 'process handle';
  id: string;
}

interface Entry {
  /** Null: it has none. */
  name: ProcessName | null;
  run: ClientProcess;
}

/** The processes that clients started by themselves. Each belongs to its connection, and goes with it. */
export class ClientProcesses {
  readonly #deps: ClientProcessesDeps;
  readonly #connections = new Map<number, Set<Entry>>();

  constructor(deps: ClientProcessesDeps) {
    this.#deps = deps;
  }

  /** Starts one; its name is taken until it has ended. Throws where it is taken already. */
  start(name: ProcessName | null, spec: ClientProcessSpec): ClientProcess {
    const { connection } = spec;
    if (!this.#deps.isConnected(connection)) throw processNotStarted('the connection is over');
    const entries = this.#connections.get(connection) ?? new Set();
    if (name !== null && this.#find(connection, name) !== null) throw duplicateProcess(name.what, name.id);
    if (entries.size >= PROCESSES_MAX) throw tooManyProcesses(PROCESSES_MAX);
    const run = new ClientProcess(spec, this.#deps);
    const entry = { name, run };
    this.#connections.set(connection, entries.add(entry));
    const forget = () => {
      entries.delete(entry);
      if (entries.size === 0 && this.#connections.get(connection) === entries) this.#connections.delete(connection);
    };
    run.ended.then(forget, forget);
    return run;
  }

  /** Throws where none of that name runs. */
  require(connection: number, name: ProcessName): ClientProcess {
    const run = this.#find(connection, name);
    if (run === null) throw processNotFound(name.what, name.id);
    return run;
  }

  /** Resolves when those that a connection has now have ended. */
  async ended(connection: number): Promise<void> {
    await Promise.allSettled([...(this.#connections.get(connection) ?? [])].map(({ run }) => run.ended));
  }

  /** Kills all that a connection has started, and what outlived it. */
  async kill(connection: number): Promise<void> {
    await Promise.all([...(this.#connections.get(connection) ?? [])].map(({ run }) => run.kill()));
    await this.#deps.processes.killOwned(ownerOf(connection));
  }

  #find(connection: number, { what, id }: ProcessName): ClientProcess | null {
    for (const { name, run } of this.#connections.get(connection) ?? []) if (name?.what === what && name.id === id) return run;
    return null;
  }
}
