import {
  duplicateProcess,
  processNotFound,
  processNotStarted,
  tooManyProcesses,
} from '../../protocol/errors/process-errors.ts';
import {
  ClientProcess,
  type ClientProcessSpec,
  ownerOf,
  type ProcessServices,
} from './client-process.ts';

/** The maximum number of processes that a connection can have at once. */
const PROCESSES_MAX = 200;

/** A client's name for a process, and the word for such names in error messages. */
export interface ProcessName {
  what: 'process id' | 'process handle';
  id: string;
}

interface Entry {
  /** Null: the process has no name. */
  name: ProcessName | null;
  run: ClientProcess;
}

/** The processes that clients started themselves. Each belongs to a connection and ends with it. */
export class ClientProcesses {
  readonly #services: ProcessServices;
  readonly #isConnected: (connection: number) => boolean;
  readonly #connections = new Map<number, Set<Entry>>();

  /** `isConnected`: whether a connection has not ended. */
  constructor(services: ProcessServices, isConnected: (connection: number) => boolean) {
    this.#services = services;
    this.#isConnected = isConnected;
  }

  /**
   * Starts a process. Its name is taken until the process has ended. Throws if the name is already
   * taken.
   */
  start(name: ProcessName | null, spec: ClientProcessSpec): ClientProcess {
    const { connection } = spec;
    if (!this.#isConnected(connection)) throw processNotStarted('the connection has ended');
    const entries = this.#connections.get(connection) ?? new Set();
    if (name !== null && this.#find(connection, name) !== null)
      throw duplicateProcess(name.what, name.id);
    if (entries.size >= PROCESSES_MAX) throw tooManyProcesses(PROCESSES_MAX);
    const run = new ClientProcess(spec, this.#services);
    const entry = { name, run };
    this.#connections.set(connection, entries.add(entry));
    const forget = () => {
      entries.delete(entry);
      if (entries.size === 0 && this.#connections.get(connection) === entries)
        this.#connections.delete(connection);
    };
    run.ended.then(forget, forget);
    return run;
  }

  /** The running process of that name. Throws if there is none. */
  require(connection: number, name: ProcessName): ClientProcess {
    const run = this.#find(connection, name);
    if (run === null) throw processNotFound(name.what, name.id);
    return run;
  }

  /** Resolves when all processes that the connection has now have ended. */
  async ended(connection: number): Promise<void> {
    await Promise.allSettled(
      [...(this.#connections.get(connection) ?? [])].map(({ run }) => run.ended),
    );
  }

  /** Kills all processes of a connection, including processes that ended ones have left running. */
  async kill(connection: number): Promise<void> {
    await Promise.all([...(this.#connections.get(connection) ?? [])].map(({ run }) => run.kill()));
    await this.#services.processes.killOwned(ownerOf(connection));
  }

  #find(connection: number, { what, id }: ProcessName): ClientProcess | null {
    for (const { name, run } of this.#connections.get(connection) ?? [])
      if (name?.what === what && name.id === id) return run;
    return null;
  }
}
