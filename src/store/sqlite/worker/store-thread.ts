import { randomUUID } from 'node:crypto';
import type { Worker } from 'node:worker_threads';
import { systemClock, type Timer } from '../../../base/clock.ts';
import { piecesLost, StoreError, storeClosed } from '../../store-error.ts';
import { LongTexts } from '../history/long-texts.ts';
import { type AnswerWatch, watchStore } from './answer-watch.ts';
import { CallLanes, type Waiting } from './call-lanes.ts';
import { wholeTexts } from './long-text-sender.ts';
import { type StoreThreadOptions, startStoreWorker } from './start-store-worker.ts';
import {
  errorData,
  errorOf,
  type StoreAnswer,
  type StoreCall,
  type StoreReply,
  withErrors,
} from './store-call.ts';

/**
 * The pauses before the thread is started again after it could not start. After so many times, all
 * calls are refused.
 */
const START_PAUSES_MS = [0, 50, 200, 750];
/** How often something is read again that was changed while its long texts were read. */
const READS_MAX = 3;
/**
 * A call with which so many threads have died is refused. All but the first had no other call, so
 * they died of this one.
 */
const DEATHS_MAX = 5;

type OutgoingCall = Pick<StoreCall, 'method' | 'args'> & Partial<Pick<StoreCall, 'writer'>>;

/** An answer with stand-ins for long texts. */
class LongAnswer {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/**
 * The thread in which a store runs. It starts at the first call. If it dies, the calls that it had
 * are made again in another one, one by one, so that a call that kills it takes no other with it.
 * It keeps the process alive during calls.
 */
export class StoreThread {
  readonly #options: StoreThreadOptions;
  readonly #longTextKey = randomUUID();
  readonly longTexts = new LongTexts(this.#longTextKey);
  /** The calls that the thread has, by their ids. */
  readonly #sent = new Map<number, Waiting>();
  /** The calls of threads that have died. They go before all others. */
  #again: Waiting[] = [];
  readonly #lanes = new CallLanes();
  readonly #watch: AnswerWatch;
  #worker: Worker | null = null;
  /** Whether the thread has started, and so may have made calls. */
  #isReady = false;
  /** How many times in a row the thread could not start. */
  #failedStarts = 0;
  /** Runs until the thread may be started again. */
  #pause: Timer | null = null;
  #isClosed = false;
  #isPosting = false;
  #calls = 0;

  constructor(options: StoreThreadOptions) {
    this.#options = options;
    this.#watch = watchStore(options, () =>
      this.#worker?.postMessage([
        { id: 0, writer: null, method: 'ping', args: [], nowMs: options.clock.now(), again: false },
      ]),
    );
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

  /** Closes the store and ends the thread. Can be called again. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#worker === null && !this.#hasCalls) return;
    try {
      await this.#add({ method: 'close', args: [] });
    } finally {
      const worker = this.#worker;
      this.#worker = null;
      await worker?.terminate();
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
    let worker: Worker;
    try {
      worker = this.#worker ?? this.#start();
    } catch (error) {
      this.#died(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    worker.ref();
    this.#watch.expect();
    try {
      worker.postMessage(waiting.map(({ call }) => call));
    } catch (error) {
      // Arguments that are not data.
      for (const { call } of waiting) this.#settle({ id: call.id, error: errorData(error) });
    }
  }

  #start(): Worker {
    const worker: Worker = startStoreWorker(this.#options, {
      longTextKey: this.#longTextKey,
      onReply: (reply) => this.#receive(reply),
      onEnd: (reason) => {
        if (this.#worker === worker) this.#died(reason);
      },
    });
    this.#worker = worker;
    return worker;
  }

  #receive(reply: StoreReply): void {
    if ('ready' in reply) {
      this.#isReady = true;
      this.#failedStarts = 0;
      return;
    }
    // That it has started does not show that it can use the file.
    this.#watch.heard();
    if ('answers' in reply) for (const answer of reply.answers) this.#settle(answer);
    else if ('repaired' in reply) this.#options.onRepaired?.(reply.repaired);
    else this.#options.log[reply.level](withErrors(reply.fields), reply.text);
  }

  #settle(answer: StoreAnswer): void {
    const waiting = this.#sent.get(answer.id);
    if (waiting === undefined) return;
    this.#forget(waiting);
    if (this.#sent.size === 0) this.#watch.rest();
    if (this.#sent.size === 0 && !this.#hasCalls) this.#worker?.unref();
    if ('error' in answer) waiting.reject(errorOf(answer.error));
    else
      waiting.resolve(answer.hasLongTexts === true ? new LongAnswer(answer.value) : answer.value);
    this.#postSoon();
  }

  #forget(waiting: Waiting): void {
    this.#sent.delete(waiting.call.id);
    // A call that is made again is in no lane.
    if (!waiting.call.again) waiting.lane.ended(waiting);
  }

  #died(reason: Error): void {
    this.#worker = null;
    const wasReady = this.#isReady;
    // The next one may fail before it is there.
    this.#isReady = false;
    this.#watch.rest();
    const { file, log } = this.#options;
    log.error(
      { err: reason, file },
      'the thread of the store has died; another one makes its calls again',
    );
    const calls = [...this.#sent.values()];
    for (const waiting of calls) this.#forget(waiting);
    if (wasReady) this.#makeAgain(calls, reason);
    else this.#startAgain(calls, reason);
    this.#postSoon();
  }

  /** The calls may have been made, and one of them may have killed the thread. */
  #makeAgain(calls: readonly Waiting[], reason: Error): void {
    const text = `${this.#options.file} cannot be used: the thread of the store has died (${reason.message})`;
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
  return `${file} cannot be used: the thread of the store cannot start (${message}). If memory or file descriptors are used up, end other programs, or restart heddle.`;
}
