import { existsSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { readProcLink } from '../../base/files/read-proc.ts';
import type { SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import { SandboxUnavailableError } from '../processes/processes.ts';
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
const NSENTER_PLACES = ['/usr/bin/nsenter', '/bin/nsenter', '/run/current-system/sw/bin/nsenter'];

/**
 * The network namespaces of commands that reach the network through a proxy. Making one takes longer than starting a command, so they
 * are used again, by one command at a time, and one is prepared ahead as soon as the first is used.
 */
export class NetworkNamespaces {
  readonly #deps: NetworkNamespacesDeps;
  #idle: IdleNamespace[] = [];
  #preparing: Promise<void> | null = null;
  #closed = false;

  constructor(deps: NetworkNamespacesDeps) {
    this.#deps = deps;
  }

  /** Returns null if the bounds let the command use no proxy. Rejects with a `SandboxUnavailableError`. */
  async takeFor({ serve }: ConfinedCommand, { managedNetwork }: SandboxBounds): Promise<NetworkLease | null> {
    return managedNetwork === true && serve !== undefined ? this.#take(serve) : null;
  }

  /** Closes the namespaces that no command uses, and each other one when its command has ended. */
  close(): void {
    this.#closed = true;
    for (const { namespace } of this.#idle) namespace.close();
    this.#idle = [];
  }

  /** `serve` gets the connections of the command. */
  async #take(serve: ServeConnection): Promise<NetworkLease> {
    const nsenter = NSENTER_PLACES.find((path) => existsSync(path));
    if (nsenter === undefined) throw new SandboxUnavailableError(NO_NSENTER);
    if (this.#ready() === null && this.#preparing !== null) await this.#preparing;
    const namespace = this.#takeReady() ?? (await this.#deps.prepare());
    namespace.onConnection = serve;
    this.#prepareAhead();
    const own = `/proc/${readProcLink('/proc/self')}/fd`;
    return {
      enter: [nsenter, '--preserve-credentials', `--user=${own}/${namespace.user}`, `--net=${own}/${namespace.net}`, '--'],
      port: NAMESPACE_PORT,
      release: () => this.#release(namespace),
    };
  }

  #ready(): IdleNamespace | null {
    const now = this.#deps.clock.monotonic();
    return this.#idle.find(({ fromMs }) => fromMs <= now) ?? null;
  }

  #takeReady(): NetworkNamespace | null {
    const ready = this.#ready();
    if (ready === null) return null;
    this.#idle = this.#idle.filter((each) => each !== ready);
    return ready.namespace;
  }

  /** A failure is reported when a command needs a namespace. */
  #prepareAhead(): void {
    if (this.#closed || this.#idle.length > 0 || this.#preparing !== null) return;
    this.#preparing = this.#deps
      .prepare()
      .then((namespace) => this.#keep(namespace, 0))
      .catch(() => {})
      .finally(() => {
        this.#preparing = null;
      });
  }

  #release(namespace: NetworkNamespace): void {
    namespace.onConnection = (socket) => socket.destroy();
    this.#keep(namespace, SETTLE_MS);
  }

  #keep(namespace: NetworkNamespace, settleMs: number): void {
    if (this.#closed || this.#idle.length >= IDLE_MAX) namespace.close();
    else this.#idle.push({ namespace, fromMs: this.#deps.clock.monotonic() + settleMs });
  }
}

const NO_NSENTER =
  "Commands cannot use the network through heddle's proxy: the program nsenter is missing. Install util-linux (`apt-get install util-linux`).";
