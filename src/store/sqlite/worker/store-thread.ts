import type { Worker } from 'node:worker_threads';
import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import { startWorker } from '../../../base/processes/start-worker.ts';
import { StoreError, storeClosed } from '../../store-error.ts';
import type { ServedStoreOptions } from './serve-store.ts';
import { type ErrorData, errorData, errorOf, type StoreAnswer, type StoreCall, type StoreReply } from './store-call.ts';

/** A store that needs more memory than this ends, and not the process. */
const HEAP_MB_MAX = 1024;

export interface StoreThreadOptions extends ServedStoreOptions {
  /** Called with a text for the user when a damaged database has been repaired. */
  onRepaired?: (message: string) => void;
  /** The built script of the thread. */
  script: string;
  clock: Clock;
  log: Log;
  /** For tests. */
  heapMbMax?: number;
}

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** The thread in which a store runs. It starts at the first call, and anew after it has died. It keeps the process alive during calls. */
export class StoreThread {
  readonly #options: StoreThreadOptions;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #isClosed = false;
  #outgoing: StoreCall[] = [];
  #calls = 0;
  /** The number of threads that have started: writers of an earlier one are lost. */
  #starts = 0;

  constructor(options: StoreThreadOptions) {
    this.#options = options;
  }

  get starts(): number {
    return this.#starts;
  }

  get isRunning(): boolean {
    return this.#worker !== null;
  }

  /** Calls a method of the store, or of a writer by its handle. */
  async call(call: Pick<StoreCall, 'method' | 'args'> & { handle?: number }): Promise<unknown> {
    if (this.#isClosed) throw storeClosed(this.#options.file);
    return this.#send(call);
  }

  /** Closes the store and ends the thread. Can be called again. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#worker === null) return;
    try {
      await this.#send({ method: 'close', args: [] });
    } finally {
      const worker = this.#worker;
      this.#worker = null;
      await worker?.terminate();
    }
  }

  #send({ method, args, handle = 0 }: Pick<StoreCall, 'method' | 'args'> & { handle?: number }): Promise<unknown> {
    const worker = this.#worker ?? this.#start();
    return new Promise((resolve, reject) => {
      const id = ++this.#calls;
      if (this.#waiting.size === 0) worker.ref();
      this.#waiting.set(id, { resolve, reject });
      this.#outgoing.push({ id, handle, method, args, nowMs: this.#options.clock.now() });
      // The calls of one moment are one message.
      if (this.#outgoing.length === 1) queueMicrotask(() => this.#post());
    });
  }

  #post(): void {
    const calls = this.#outgoing;
    this.#outgoing = [];
    try {
      this.#worker?.postMessage(calls);
    } catch (error) {
      // Arguments that are not data.
      for (const { id } of calls) this.#settle({ id, error: errorData(error) });
    }
  }

  #start(): Worker {
    const { script, file, migrationsDir, tempDir, pid, nodeVersions, heapMbMax = HEAP_MB_MAX } = this.#options;
    const worker: Worker = startWorker<StoreReply>({
      script,
      heapMbMax,
      data: {
        file,
        migrationsDir,
        tempDir,
        pid,
        ...(nodeVersions && { nodeVersions: { ...nodeVersions } }),
      } satisfies ServedStoreOptions,
      onMessage: (reply) => this.#receive(reply),
      onEnd: (reason) => {
        if (this.#worker === worker) this.#died(reason);
      },
    });
    this.#worker = worker;
    this.#starts++;
    return worker;
  }

  #receive(reply: StoreReply): void {
    if ('answers' in reply) for (const answer of reply.answers) this.#settle(answer);
    else if ('repaired' in reply) this.#options.onRepaired?.(reply.repaired);
    else this.#options.log[reply.level](withErrors(reply.fields), reply.text);
  }

  #settle(answer: StoreAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0) this.#worker?.unref();
    if ('error' in answer) waiting?.reject(errorOf(answer.error));
    else waiting?.resolve(answer.value);
  }

  #died(reason: Error): void {
    this.#worker = null;
    this.#options.log.error({ err: reason, file: this.#options.file }, 'the thread of the store has died; the next call starts another');
    const calls = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#outgoing = [];
    const text = `${this.#options.file} cannot be used: the thread of the store has died (${reason.message})`;
    for (const { reject } of calls) reject(new StoreError('store_failed', text, {}, { cause: reason }));
  }
}

function withErrors(fields: object): object {
  const isError = (value: unknown): value is { error: ErrorData } => typeof value === 'object' && value !== null && 'error' in value;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, isError(value) ? errorOf(value.error) : (value as unknown)]),
  );
}
