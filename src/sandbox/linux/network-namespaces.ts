import { existsSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { readProcLink } from '../../base/files/read-proc.ts';
import type { SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import { ProcessStartError, SandboxUnavailableError, SERVER_ENDING } from '../processes/processes.ts';
import type { ConfinedCommand, ServeConnection } from '../sandbox.ts';
import { NAMESPACE_PORT, type NetworkNamespace } from './prepare-namespace.ts';

/** A network namespace that one command uses. */
export interface NetworkLease {
  /** The arguments to put before a program so that it runs in the namespace. The program keeps the process id. */
  enter: readonly string[];
  /** The port on its loopback on which the command's proxy is reached. */
  port: number;
  /** To be called when no process of the command is left. */
  release(): void;
}

export interface NetworkNamespacesDeps {
  clock: Clock;
  prepare(): Promise<NetworkNamespace>;
}

interface IdleNamespace {
  namespace: NetworkNamespace;
  /** On the monotonic clock. */
  fromMs: number;
}

/** After this time, every process of a killed command is gone. */
const SETTLE_MS = 1000;
const IDLE_MAX = 8;
/** Each preparation is a process of Node. */
const PREPARING_MAX = 4;
const NSENTER_PLACES = ['/usr/bin/nsenter', '/bin/nsenter', '/run/current-system/sw/bin/nsenter'];

/** A command that waits for a namespace. */
interface Waiting {
  resolve(namespace: NetworkNamespace): void;
  reject(error: unknown): void;
}

/**
 * The network namespaces of commands that reach the network through a proxy. Making one takes longer than starting a command, so they
 * are used again, by one command at a time, and one is always prepared ahead once the first is used, or after `prepareAhead`.
 */
export class NetworkNamespaces {
  readonly #deps: NetworkNamespacesDeps;
  #idle: IdleNamespace[] = [];
  readonly #waiting: Waiting[] = [];
  #preparing = 0;
  #closed = false;

  constructor(deps: NetworkNamespacesDeps) {
    this.#deps = deps;
  }

  /** Prepares a namespace unless one is ready for the next command. A failure is reported when a command needs one. */
  prepareAhead(): void {
    if (!this.#closed && this.#preparing === 0 && !this.#idle.some((each) => this.#isReady(each))) void this.#prepare();
  }

  /** Returns null if the bounds let the command use no proxy. Rejects with a `SandboxUnavailableError`, or once it is closed. */
  async takeFor({ serve }: ConfinedCommand, { managedNetwork }: SandboxBounds): Promise<NetworkLease | null> {
    return managedNetwork === true && serve !== undefined ? this.#take(serve) : null;
  }

  /** Closes the namespaces that no command uses, and each other one when its command has ended. */
  close(): void {
    this.#closed = true;
    for (const { namespace } of this.#idle) namespace.close();
    this.#idle = [];
    for (const { reject } of this.#waiting.splice(0)) reject(new ProcessStartError(SERVER_ENDING));
  }

  /** `serve` gets the connections of the command. */
  async #take(serve: ServeConnection): Promise<NetworkLease> {
    const nsenter = NSENTER_PLACES.find((path) => existsSync(path));
    if (nsenter === undefined) throw new SandboxUnavailableError(NO_NSENTER);
    const namespace = this.#takeReady() ?? (await this.#nextPrepared());
    namespace.onConnection = (socket) => serve(socket, null);
    this.prepareAhead();
    const own = `/proc/${readProcLink('/proc/self')}/fd`;
    return {
      enter: [nsenter, '--preserve-credentials', `--user=${own}/${namespace.user}`, `--net=${own}/${namespace.net}`, '--'],
      port: NAMESPACE_PORT,
      release: () => this.#release(namespace),
    };
  }

  #isReady({ fromMs }: IdleNamespace): boolean {
    return fromMs <= this.#deps.clock.monotonic();
  }

  #takeReady(): NetworkNamespace | null {
    const index = this.#idle.findIndex((each) => this.#isReady(each));
    return index === -1 ? null : (this.#idle.splice(index, 1)[0]?.namespace ?? null);
  }

  #nextPrepared(): Promise<NetworkNamespace> {
    if (this.#closed) return Promise.reject(new ProcessStartError(SERVER_ENDING));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      if (this.#preparing < Math.min(PREPARING_MAX, this.#waiting.length)) void this.#prepare();
    });
  }

  /** Prepares namespaces, one after the other, as long as commands wait. Never rejects. */
  async #prepare(): Promise<void> {
    this.#preparing++;
    do {
      try {
        const namespace = this.#takeReady() ?? (await this.#deps.prepare());
        const waiting = this.#waiting.shift();
        if (waiting === undefined) this.#keep(namespace, 0);
        else waiting.resolve(namespace);
      } catch (error) {
        this.#waiting.shift()?.reject(error);
      }
    } while (this.#waiting.length >= this.#preparing);
    this.#preparing--;
  }

  #release(namespace: NetworkNamespace): void {
    namespace.onConnection = (socket) => socket.destroy();
    // Between these two, the event loop accepts every connection that the command has left in the queue of the listener.
    setImmediate(() => setImmediate(() => this.#keep(namespace, SETTLE_MS)));
  }

  #keep(namespace: NetworkNamespace, settleMs: number): void {
    if (this.#closed || this.#idle.length >= IDLE_MAX) namespace.close();
    else this.#idle.push({ namespace, fromMs: this.#deps.clock.monotonic() + settleMs });
  }
}

const ENDING = 'The server is ending.';
const NO_NSENTER =
  "Commands cannot use the network through heddle's proxy: the program nsenter is missing. Install util-linux (`apt-get install util-linux`).";
