import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { orAborted } from '../../base/or-aborted.ts';
import { Semaphore } from '../../base/semaphore.ts';
import type { LogEntry } from '../../store/log-entry.ts';
import { findTool, runToolCall, type ToolCall, type ToolCallDeps } from './run-tool-call.ts';

export interface ResponseCallsDeps extends ToolCallDeps {
  /** Called before the call begins. Rejects only with the store's error. */
  learnId: (call: ToolCall) => Promise<void>;
  /** Resolves when no output is owed to the store. Rejects only with the store's error. */
  settle: () => Promise<void>;
}

/** How many calls of one response run at a time. The others wait, in their order. */
const PARALLEL_CALLS_MAX = 64;
/** The units of work of the beginning of a call: few calls begin in one round of the event loop. */
const CALL_UNITS = 1_250;

/**
 * The calls of one response. Each begins as soon as it is stored, while the model may still
 * respond. They run in parallel, but a call of an exclusive tool runs alone, and calls with the
 * same id run one after another, so that their outputs are stored in that order. An interrupt ends
 * the waiting calls at once.
 *
 * The output of each call is stored as the call ends. What calls store for the model while it
 * responds is deferred, so that it comes behind the whole response.
 */
export class ResponseCalls {
  readonly #deps: ResponseCallsDeps;
  readonly #signal: AbortSignal;
  readonly #places = new Semaphore(PARALLEL_CALLS_MAX);
  readonly #breaks = new EventLoopYield();
  /** The last call with each id. */
  readonly #sameId = new Map<string, Promise<void>>();
  readonly #runs: Promise<void>[] = [];
  #alone: Promise<unknown> = Promise.resolve();
  #beside: Promise<unknown>[] = [];
  #isResponding = true;
  #hasDeferred = false;

  constructor(deps: ResponseCallsDeps, signal: AbortSignal) {
    this.#deps = { ...deps, withoutOwn: (entries) => deps.withoutOwn(this.#inPlace(entries)) };
    this.#signal = signal;
  }

  /** Runs a call when `stored` has resolved. If that rejects, the call does not run. */
  begin(call: ToolCall, stored: Promise<void>): void {
    const isExclusive = findTool(this.#deps.tools, call)?.isExclusive === true;
    const before = isExclusive ? Promise.all([this.#alone, ...this.#beside]) : this.#alone;
    const run = this.#run(call, { stored, before, earlier: this.#sameId.get(call.call_id) });
    // The calls behind it run even if its output could not be stored.
    const ended = run.catch(() => {});
    this.#sameId.set(call.call_id, ended);
    if (isExclusive) [this.#alone, this.#beside] = [ended, []];
    else this.#beside.push(ended);
    this.#runs.push(run);
  }

  /**
   * To be called when the response has ended: the model now reads what calls have stored so far.
   * Rejects only with the store's error.
   */
  async responded(): Promise<void> {
    this.#isResponding = false;
    if (!this.#hasDeferred) return;
    const { turnId, withoutOwn, store } = this.#deps;
    const entries = withoutOwn([{ kind: 'deferredRead', turnId }]);
    if (entries.length > 0) await store(entries);
  }

  /**
   * Resolves when all calls have ended and their outputs are stored. Rejects then if the store has
   * failed.
   */
  async ended(): Promise<void> {
    if (this.#runs.length === 0) return;
    await Promise.allSettled(this.#runs);
    await Promise.all(this.#runs);
    await this.#deps.settle();
  }

  async #run(
    call: ToolCall,
    {
      stored,
      before,
      earlier,
    }: { stored: Promise<void>; before: Promise<unknown>; earlier: Promise<void> | undefined },
  ): Promise<void> {
    const { learnId, pace } = this.#deps;
    await stored;
    await learnId(call);
    await orAborted(before, this.#signal);
    await earlier;
    await pace.mayBegin();
    const hasPlace = await this.#places.take(this.#signal);
    try {
      await this.#breaks.worked(CALL_UNITS);
      await runToolCall(call, this.#deps, this.#signal);
    } finally {
      if (hasPlace) this.#places.release();
    }
  }

  /**
   * Call it in the moment in which the entries are given to the outbox: what is deferred must stand
   * before the `deferredRead`.
   */
  #inPlace(entries: LogEntry[]): LogEntry[] {
    if (!this.#isResponding) return entries;
    this.#hasDeferred ||= entries.length > 0;
    return entries.map((entry) => (entry.kind === 'model' ? { ...entry, deferred: true } : entry));
  }
}
