import { randomUUID } from 'node:crypto';
import { type Clock, systemClock, type Timer } from '../../../base/clock.ts';
import { type Log, sendingLog } from '../../../base/log.ts';
import { PeerEnded } from '../../../base/worker/peer.ts';
import type { Remote } from '../../../base/worker/remote.ts';
import { RemoteWorker } from '../../../base/worker/remote-worker.ts';
import { piecesLost, StoreError, storeClosed } from '../../store-error.ts';
import { LongTexts } from '../history/long-texts.ts';
import { type AnswerWatch, watchStore } from './answer-watch.ts';
import { CallLanes, type Waiting } from './call-lanes.ts';
import { wholeTexts } from './long-text-sender.ts';
import {
  type ServedStore,
  type ServedStoreOptions,
  STORE_ERRORS,
  type StoreAnswer,
  type StoreCall,
  type StoreUser,
  workerData,
} from './store-call.ts';

/** A store that needs more memory than this ends, and not the process. */
const HEAP_MB_MAX = 256;
/**
 * The pauses before the worker is started again after it could not start. After so many times, all
 * calls are refused.
 */
const START_PAUSES_MS = [0, 50, 200, 750];
/** How often something is read again that was changed while its long texts were read. */
const READS_MAX = 3;
/**
 * A call with which so many workers have died is refused. All but the first had no other call, so
 * they died of this one.
 */
const DEATHS_MAX = 5;

export interface RemoteStoreOptions extends ServedStoreOptions {
  /** Called with a text for the user when a damaged database has been repaired. */
  onRepaired?: (message: string) => void;
  /** Called with a text for the user when the store does not answer, and when it answers again. */
  onSilent?: (message: string) => void;
  /** The script that loads workers. */
  script: string;
  clock: Clock;
  log: Log;
  /** Tests set it, so that little data fills the heap. */
  heapMbMax?: number;
  /** Measures the waiting for the worker. Tests set it: it takes long. */
  waitClock?: Clock;
}

type OutgoingCall = Pick<StoreCall, 'method' | 'args'> & Partial<Pick<StoreCall, 'writer'>>;

/** An answer with stand-ins for long texts. */
class LongAnswer {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/**
 * A store in a worker. It starts at the first call. If it dies, the calls that it had are made
 * again in another one, one by one, so that a call that kills it takes no other with it.
 */
export class RemoteStore {
  readonly #options: RemoteStoreOptions;
  readonly #worker: RemoteWorker<ServedStore, StoreUser>;
  readonly #longTextKey = randomUUID();
  readonly longTexts = new LongTexts(this.#longTextKey);
  /** The calls that the worker has, by their ids. */
  readonly #sent = new Map<number, Waiting>();
  /** The calls of workers that have died. They go before all others. */
  #again: Waiting[] = [];
  readonly #lanes = new CallLanes();
  readonly #watch: AnswerWatch;
  /** Whether the worker has started, and so may have made calls. */
  #isReady = false;
  /** How many times in a row the worker could not start. */
  #failedStarts = 0;
  /** Runs until the worker may be started again. */
  #pause: Timer | null = null;
  #isClosed = false;
  #isPosting = false;
  #calls = 0;

  constructor(options: RemoteStoreOptions) {
    this.#options = options;
    const { script, log, heapMbMax = HEAP_MB_MAX } = options;
    this.#worker = new RemoteWorker<ServedStore, StoreUser>({
      script,
      name: 'store.worker',
      called: 'the worker of the store',
      heapMbMax,
      data: () => workerData(options, this.#longTextKey),
      knownErrors: STORE_ERRORS,
      joins: true,
      log: sendingLog((level, fields, text) => {
        this.#watch.heard();
        log[level](fields, text);
      }),
      served: {
        ready: () => {
          this.#isReady = true;
          this.#failedStarts = 0;
        },
        repaired: (message) => {
          this.#watch.heard();
          options.onRepaired?.(message);
        },
      },
      onDied: (reason) => this.#died(reason),
    });
    this.#watch = watchStore(options, () => void this.#ping());
  }

  /** Calls a method of the store, or of a writer by its handle. */
  async call(call: OutgoingCall): Promise<unknown> {
    if (this.#isClosed) throw storeClosed(this.#options.file);
    for (let tries = 1; ; tries++) {
      const value = await this.#add(call);
      if (!(value instanceof LongAnswer)) return value;
      const whole = await wholeTexts(
        value.value,
        this.longTexts,
        (hash) => this.call({ method: 'readPiece', args: [hash] }) as Promise<string | null>,
      );
      if (whole !== null) return whole.value;
      // The thread was changed after it was read.
      if (tries === READS_MAX) throw piecesLost();
    }
  }

  /** Closes the store and ends the worker. Can be called again. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (!this.#worker.isRunning && !this.#hasCalls) return;
    try {
      await this.#add({ method: 'close', args: [] });
    } finally {
      await this.#worker.close();
    }
  }

  get #hasCalls(): boolean {
    return this.#again.length > 0 || !this.#lanes.isEmpty;
  }

  #add({ method, args, writer = null }: OutgoingCall): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const call = {
        id: ++this.#calls,
        writer,
        method,
        args,
        nowMs: this.#options.clock.now(),
        again: false,
      };
      this.#lanes.add({ call, deaths: 0, resolve, reject });
      this.#postSoon();
    });
  }

  /** The calls of one moment are one message. */
  #postSoon(): void {
    if (this.#isPosting || !this.#hasCalls) return;
    this.#isPosting = true;
    queueMicrotask(() => {
      this.#isPosting = false;
      this.#post(this.#take());
    });
  }

  #take(): Waiting[] {
    // The store makes all calls a last time when it is closed.
    const all = this.#isClosed;
    if (this.#pause !== null) return [];
    if (!all && this.#again.length > 0)
      return this.#sent.size === 0 ? this.#again.splice(0, 1) : [];
    // While a call is made again, it is alone.
    const [first] = this.#sent.values();
    if (!all && first !== undefined && first.deaths > 0) return [];
    return [...this.#again.splice(0), ...this.#lanes.take({ all })];
  }

  #post(waiting: readonly Waiting[]): void {
    if (waiting.length === 0) return;
    for (const one of waiting) this.#sent.set(one.call.id, one);
    let remote: Remote<ServedStore>;
    try {
      remote = this.#worker.remote;
    } catch (error) {
      this.#died(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    this.#watch.expect();
    for (const one of waiting)
      remote.call('perform', [one.call]).then(
        (answer) => this.#settle(one, answer),
        (error: Error) => {
          // If the worker has died, the call is made again.
          if (!(error instanceof PeerEnded)) this.#settle(one, error);
        },
      );
  }

  async #ping(): Promise<void> {
    if (!this.#worker.isRunning) return;
    try {
      await this.#worker.remote.call('ping', []);
      this.#watch.heard();
    } catch {
      // It has died.
    }
  }

  #settle(one: Waiting, outcome: StoreAnswer | Error): void {
    // That the worker has started does not show that it can use the file.
    this.#watch.heard();
    this.#forget(one);
    if (this.#sent.size === 0) this.#watch.rest();
    if (outcome instanceof Error) one.reject(outcome);
    else one.resolve(outcome.hasLongTexts ? new LongAnswer(outcome.value) : outcome.value);
    this.#postSoon();
  }

  #forget(waiting: Waiting): void {
    this.#sent.delete(waiting.call.id);
    // A call that is made again is in no lane.
    if (!waiting.call.again) waiting.lane.ended(waiting);
  }

  #died(reason: Error): void {
    const wasReady = this.#isReady;
    // The next one may fail before it is there.
    this.#isReady = false;
    this.#watch.rest();
    const { file, log } = this.#options;
    log.error(
      { err: reason, file },
      'the worker of the store has died; another one makes its calls again',
    );
    const calls = [...this.#sent.values()];
    for (const waiting of calls) this.#forget(waiting);
    if (wasReady) this.#makeAgain(calls, reason);
    else this.#startAgain(calls, reason);
    this.#postSoon();
  }

  /** The calls may have been made, and one of them may have killed the worker. */
  #makeAgain(calls: readonly Waiting[], reason: Error): void {
    const text = `${this.#options.file} cannot be used: the worker of the store has died (${reason.message})`;
    for (const waiting of calls) {
      waiting.deaths++;
      waiting.call.again = true;
      if (waiting.deaths === DEATHS_MAX)
        waiting.reject(new StoreError('store_failed', text, {}, { cause: reason }));
    }
    this.#again.unshift(...calls.filter(({ deaths }) => deaths < DEATHS_MAX));
  }

  /**
   * No call has been made. It is tried again after a pause, because what the system lacks may
   * become free.
   */
  #startAgain(calls: readonly Waiting[], reason: Error): void {
    for (const { call } of calls) call.again = true;
    this.#again.unshift(...calls);
    const pauseMs = START_PAUSES_MS[this.#failedStarts];
    if (pauseMs !== undefined && !this.#isClosed) {
      this.#failedStarts++;
      this.#pause = (this.#options.waitClock ?? systemClock).setTimer(() => {
        this.#pause = null;
        this.#postSoon();
      }, pauseMs);
      return;
    }
    const error = new StoreError(
      'store_failed',
      cannotStart(this.#options.file, reason),
      {},
      { cause: reason },
    );
    const lanes = this.#lanes.take({ all: true });
    for (const waiting of lanes) waiting.lane.ended(waiting);
    for (const { reject } of [...this.#again.splice(0), ...lanes]) reject(error);
  }
}

function cannotStart(file: string, { message }: Error): string {
  return `${file} cannot be used: the worker of the store cannot start (${message}). If memory or file descriptors are used up, end other programs, or restart heddle.`;
}
