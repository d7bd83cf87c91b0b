import { setImmediate, setTimeout } from 'node:timers/promises';
import type { App } from '../app.ts';
import type { Processes } from '../sandbox/processes/processes.ts';
import type { Pacing } from '../services/app-parts.ts';
import type { ThreadStore } from '../store/thread-store.ts';
import { countedCalls } from './counted-calls.ts';
import { PacedProcesses } from './paced-processes.ts';
import type { VirtualClock } from './virtual-clock.ts';

/**
 * Resources that keep an event loop alive although nothing happens: open streams and watches,
 * signal handlers, the timer of `KeepAlive`, and processes with the input that they have not read.
 * `PacedProcesses` decides when processes are heard. A program that has the server in its process
 * may listen for connections and for messages of other threads.
 */
const AT_REST = new Set([
  'FSEventWrap',
  'MessagePort',
  'PipeServerWrap',
  'PipeWrap',
  'ProcessWrap',
  'ShutdownWrap',
  'SignalWrap',
  'StatWatcher',
  'TCPServerWrap',
  'TCPSocketWrap',
  'Timeout',
  'TTYWrap',
  'UDPWrap',
  'WriteWrap',
]);
/**
 * While work takes longer than this number of rounds of the event loop, the rounds are made slowly.
 */
const FAST_ROUNDS = 50;
const SLOW_ROUND_MS = 1;

interface FixedPaceDeps {
  clock: VirtualClock;
  /** The kinds of all resources that keep the process alive (`process.getActiveResourcesInfo`). */
  activeResources: () => string[];
  /** Whether the client has not read everything yet. */
  outputWaits: () => boolean;
}

/**
 * Lets one thing happen after another: a call begins, a process is heard or time passes only when
 * the server has done everything that it can do before. Time passes while a turn runs and no client
 * is asked, and while a client leaves; after the last message, also for questions and requests.
 * While a command is waited for, time stands still until all its processes have slept for as long
 * as the wait may take.
 */
export class FixedPace implements Pacing {
  readonly #deps: FixedPaceDeps;
  readonly #beginning: (() => void)[] = [];
  #processes: PacedProcesses | null = null;
  #work = 0;
  #released = false;

  constructor(deps: FixedPaceDeps) {
    this.#deps = deps;
  }

  async mayBegin(): Promise<void> {
    if (!this.#released) await new Promise<void>((resolve) => this.#beginning.push(resolve));
  }

  async during<T>(work: Promise<T>): Promise<T> {
    this.#work++;
    try {
      return await work;
    } finally {
      this.#work--;
    }
  }

  processes(inner: Processes): Processes {
    this.#processes = new PacedProcesses(inner, {
      clock: this.#deps.clock,
      during: (work) => this.during(work),
    });
    return this.#processes;
  }

  store(inner: ThreadStore): ThreadStore {
    return countedCalls(inner, (work) => this.during(work));
  }

  /**
   * Resolves when the server has done everything that it can do without another message, which may
   * be the answer to a question, or an interrupt of a turn that hangs. Time also passes while
   * `isLeaving` returns true: while the server still waits for the requests of a client that can
   * send nothing more.
   */
  async settle(
    server: App,
    { isLast, isLeaving }: { isLast: boolean; isLeaving?: () => boolean },
  ): Promise<void> {
    // The end of a client is no message for a process.
    if (isLeaving === undefined) this.#processes?.messageCame();
    while (!this.#released) {
      await this.#rest();
      if (this.#beginNext()) continue;
      const { turns, questions, requests } = server.open();
      const timePasses = isLast ? turns + requests > 0 : turns > 0 && questions === 0;
      if (await this.#processes?.hearNext({ timePasses })) continue;
      if (!(timePasses || isLeaving?.()) || !this.#deps.clock.advance()) return;
    }
  }

  /**
   * To be called after the end of the input: goes on until all requests are answered, or `release`
   * is called.
   */
  async settleRequests(server: App): Promise<void> {
    while (!this.#released && server.open().requests > 0) {
      await this.settle(server, { isLast: true });
      await setTimeout(SLOW_ROUND_MS);
    }
  }

  /** From now on everything happens at once. To be called before the server is closed. */
  release(): void {
    this.#released = true;
    for (const begin of this.#beginning.splice(0)) begin();
    this.#processes?.release();
  }

  #beginNext(): boolean {
    const begin = this.#beginning.shift();
    begin?.();
    return begin !== undefined;
  }

  /**
   * Waits until the server is at rest in two rounds of the event loop in a row: work in one round
   * may lead to more in the next.
   */
  async #rest(): Promise<void> {
    for (let resting = 0, rounds = 0; resting < 2; rounds++) {
      await (rounds < FAST_ROUNDS ? setImmediate() : setTimeout(SLOW_ROUND_MS));
      resting = this.#isAtRest() ? resting + 1 : 0;
    }
  }

  #isAtRest(): boolean {
    const { activeResources, outputWaits } = this.#deps;
    return (
      this.#work === 0 && !outputWaits() && activeResources().every((kind) => AT_REST.has(kind))
    );
  }
}
