import { closeSync, openSync } from 'node:fs';
import { type Clock, sleep } from '../../base/clock.ts';
import { readProc } from '../../base/files/read-proc.ts';
import type { SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import { ProcessStartError, SERVER_ENDING } from '../processes/processes.ts';
import { proxyUnavailable } from '../proxy-unavailable.ts';
import type { CommandServer, ConfinedCommand } from '../sandbox.ts';
import { enterNamespace } from './enter-namespace.ts';
import { NAMESPACE_PORT, type NetworkNamespace } from './prepare-namespace.ts';

/** A network namespace that one command uses. */
export interface NetworkLease {
  /**
   * The arguments to put before a program so that it runs in the namespace. The program keeps the
   * process id.
   */
  enter: readonly string[];
  /** The port on its loopback on which the command's proxy is reached. */
  port: number;
  /** A file for bubblewrap, which writes the process id of its init into it. */
  info: number;
  /** To be called when bubblewrap has ended, or was not started. */
  release(): void;
}

export interface NetworkNamespacesDeps {
  clock: Clock;
  prepare(): Promise<NetworkNamespace>;
}

/**
 * The kernel kills the processes of an ended command. If they are not gone after this time, the
 * namespace is not used again.
 */
const SETTLE_MS_MAX = 1000;
const SETTLE_STEP_MS = 20;
const IDLE_MAX = 8;
/**
 * The queue of a listener has room for this many connections at least. If there was no room, the
 * kernel makes more connections later, even if their process has ended. They must not be those of
 * the next command.
 */
const REUSE_CONNECTIONS_MAX = 128;
/** Each preparation is a process of Node. */
const PREPARING_MAX = 4;

interface TakeOptions {
  /** Whether the next command may use the namespace. */
  isReusable: boolean;
  /** Ends the wait for it. */
  signal: AbortSignal | undefined;
}

/** A command that waits for a namespace. */
interface Waiting {
  resolve(namespace: NetworkNamespace): void;
  reject(error: unknown): void;
}

/**
 * The network namespaces of commands that reach the network through a proxy. Making one takes
 * longer than starting a command, so they are used again, by one command at a time, and one is
 * always prepared ahead once the first is used, or after `prepareAhead`.
 */
export class NetworkNamespaces {
  readonly #deps: NetworkNamespacesDeps;
  #idle: NetworkNamespace[] = [];
  #waiting: Waiting[] = [];
  #preparing = 0;
  readonly #closing = new AbortController();

  constructor(deps: NetworkNamespacesDeps) {
    this.#deps = deps;
  }

  /**
   * Prepares a namespace unless one is ready for the next command. A failure is reported when a
   * command needs one.
   */
  prepareAhead(): void {
    if (!this.#isClosed && this.#preparing === 0 && this.#idle.length === 0) void this.#prepare();
  }

  /**
   * Returns null if the bounds let the command use no proxy. Rejects with a
   * `SandboxUnavailableError`; once it is closed, and when the command's signal aborts, with a
   * `ProcessStartError`.
   */
  async takeFor(
    { serve, signal }: ConfinedCommand,
    { managedNetwork, unixSockets }: SandboxBounds,
  ): Promise<NetworkLease | null> {
    // With unix sockets, a command can pass its own sockets to one that outlives it.
    return managedNetwork === true && serve !== undefined
      ? this.#take(serve, { isReusable: !unixSockets, signal })
      : null;
  }

  /** Closes the namespaces that no command uses, and each other one when its command has ended. */
  close(): void {
    this.#closing.abort();
    for (const namespace of this.#idle) namespace.close();
    this.#idle = [];
    for (const { reject } of this.#waiting.splice(0)) reject(new ProcessStartError(SERVER_ENDING));
  }

  /** `server` gets the connections of the command. */
  async #take(server: CommandServer, { isReusable, signal }: TakeOptions): Promise<NetworkLease> {
    const namespace = await this.#nextServed(server, signal);
    this.prepareAhead();
    const { enter, info } = startOf(namespace);
    const release = () => void this.#release(namespace, isReusable);
    return {
      enter,
      port: NAMESPACE_PORT,
      info,
      release() {
        closeSync(info);
        release();
      },
    };
  }

  /** Returns a namespace whose connections are served so. Closes those whose listener has ended. */
  async #nextServed(
    server: CommandServer,
    signal: AbortSignal | undefined,
  ): Promise<NetworkNamespace> {
    for (;;) {
      const idle = this.#idle.shift();
      const namespace = idle ?? (await this.#nextPrepared(signal));
      const failed = await namespace.listener.serve(server, null).then(
        () => null,
        (error: unknown) =>
          proxyUnavailable(error instanceof Error ? error.message : String(error), error),
      );
      if (failed === null && !this.#isClosed) return namespace;
      namespace.close();
      if (this.#isClosed) throw new ProcessStartError(SERVER_ENDING);
      if (failed !== null && idle === undefined) throw failed;
    }
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #nextPrepared(signal: AbortSignal | undefined): Promise<NetworkNamespace> {
    if (this.#isClosed) throw new ProcessStartError(SERVER_ENDING);
    if (signal?.aborted === true) throw new ProcessStartError(GIVEN_UP);
    let giveUp = () => {};
    const prepared = new Promise<NetworkNamespace>((resolve, reject) => {
      const waiting = { resolve, reject };
      this.#waiting.push(waiting);
      giveUp = () => {
        this.#waiting = this.#waiting.filter((each) => each !== waiting);
        reject(new ProcessStartError(GIVEN_UP));
      };
      signal?.addEventListener('abort', giveUp);
      if (this.#preparing < Math.min(PREPARING_MAX, this.#waiting.length)) void this.#prepare();
    });
    try {
      return await prepared;
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  }

  /** Prepares namespaces, one after the other, as long as commands wait. Never rejects. */
  async #prepare(): Promise<void> {
    this.#preparing++;
    do {
      try {
        const namespace = this.#idle.shift() ?? (await this.#deps.prepare());
        const waiting = this.#waiting.shift();
        if (waiting === undefined) this.#keep(namespace);
        else waiting.resolve(namespace);
      } catch (error) {
        this.#waiting.shift()?.reject(error);
      }
    } while (this.#waiting.length >= this.#preparing);
    this.#preparing--;
  }

  /** Never rejects. */
  async #release(namespace: NetworkNamespace, isReusable: boolean): Promise<void> {
    const { clock } = this.#deps;
    const { listener } = namespace;
    const served = listener.serve(null, null);
    served.catch(() => {});
    const latest = clock.monotonic() + SETTLE_MS_MAX;
    while (!isEmpty(namespace)) {
      if (this.#isClosed || clock.monotonic() >= latest) {
        namespace.close();
        return;
      }
      await sleep(clock, SETTLE_STEP_MS, this.#closing.signal);
    }
    try {
      // Also the connections that the command has left in the queue of the listener are closed
      // then.
      const connections = (await served) + (await listener.serve(null, null));
      if (isReusable && connections < REUSE_CONNECTIONS_MAX) this.#keep(namespace);
      else namespace.close();
    } catch {
      // The listener has ended.
      namespace.close();
    }
  }

  #keep(namespace: NetworkNamespace): void {
    if (this.#isClosed || this.#idle.length >= IDLE_MAX) namespace.close();
    else this.#idle.push(namespace);
  }
}

function startOf(namespace: NetworkNamespace): Pick<NetworkLease, 'enter' | 'info'> {
  try {
    // Opening the file truncates it.
    return {
      enter: enterNamespace(namespace),
      info: openSync(`/proc/self/fd/${namespace.info}`, 'w'),
    };
  } catch (error) {
    namespace.close();
    throw error;
  }
}

/**
 * Whether the init of the last command has ended: the kernel ends it after all other processes of
 * its process namespace.
 */
function isEmpty({ info }: NetworkNamespace): boolean {
  const pid = /"child-pid": (\d+)/.exec(readProc(`/proc/self/fd/${info}`) ?? '')?.[1];
  if (pid === undefined) return false;
  const state = /\) (\S) \d+ /.exec(readProc(`/proc/${Number(pid)}/stat`) ?? '')?.[1];
  return state === undefined || state === 'Z' || state === 'X';
}

const GIVEN_UP = 'The command was cancelled before it started.';
