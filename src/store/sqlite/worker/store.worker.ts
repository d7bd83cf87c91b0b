// The script of the worker in which a store runs.
import { systemClock } from '../../../base/clock.ts';
import type { MainThread } from '../../../base/worker/remote.ts';
import { serveWorker } from '../../../base/worker/serve-worker.ts';
import { createSqliteStore, type SqliteStore } from '../create-sqlite-store.ts';
import { LongTexts } from '../history/long-texts.ts';
import type { SqliteWriter, WriteIdentity } from '../threads/sqlite-writer.ts';
import { callAgain } from './call-again.ts';
import {
  type OpenedWriter,
  type ServedStore,
  STORE_ERRORS,
  STORE_METHODS,
  type StoreAnswer,
  type StoreCall,
  type StoreMethod,
  type StoreUser,
  type StoreWorkerData,
  type WriterHandle,
} from './store-call.ts';

type Target = Record<string, (...args: readonly unknown[]) => Promise<unknown>>;

/** Opens a store, and performs its calls and those of its writers. */
class StoreServer implements ServedStore {
  readonly #store: SqliteStore;
  readonly #longTexts: LongTexts;
  readonly #writers = new Map<number, SqliteWriter>();
  #nowMs = 0;

  constructor(main: MainThread<StoreUser>, { longTextKey, ...options }: StoreWorkerData) {
    const longTexts = new LongTexts(longTextKey);
    this.#longTexts = longTexts;
    this.#store = createSqliteStore({
      ...options,
      longTexts,
      clock: { ...systemClock, now: () => this.#nowMs },
      log: main.log,
      onRepaired: (message) => main.tell('repaired', message),
    });
    main.tell('ready');
  }

  ping(): void {}

  async perform(call: StoreCall): Promise<StoreAnswer> {
    this.#nowMs = call.nowMs;
    const { made } = this.#longTexts;
    const value = await (call.writer === null
      ? this.#callStore(call)
      : this.#callWriter(call.writer, call));
    return { value, hasLongTexts: this.#longTexts.made > made };
  }

  async #callStore(call: StoreCall): Promise<unknown> {
    const { id: handle, method, args } = call;
    const done = call.again ? callAgain(this.#store, call) : undefined;
    const value = await (done ?? (this.#store as unknown as Target)[method]?.(...args));
    if (
      value === null ||
      (STORE_METHODS[method as StoreMethod] !== 'writer' && method !== 'createFromStaged')
    )
      return value;
    const writer = value as SqliteWriter;
    this.#writers.set(handle, writer);
    return { handle, threadId: writer.threadId, lastWrite: writer.writeId } satisfies OpenedWriter;
  }

  async #callWriter(
    { handle, threadId }: WriterHandle,
    { method, args }: StoreCall,
  ): Promise<string | null> {
    const known = this.#writers.get(handle);
    if (method === 'close') {
      this.#writers.delete(handle);
      // A writer of an earlier thread has no lease any more.
      await known?.close();
      return null;
    }
    const writer = known ?? (await this.#resume(handle, threadId, args.at(-1) as WriteIdentity));
    const value = await (writer as unknown as Target)[method]?.(...args);
    return method === 'keep' ? (value as string) : writer.writeId;
  }

  /**
   * Opens a writer of an earlier thread again. Its last write is the one before the call, or that
   * of the call itself.
   */
  async #resume(
    handle: number,
    threadId: string,
    { id, after }: WriteIdentity,
  ): Promise<SqliteWriter> {
    const writer = await this.#store.resumeWriter(threadId, [after, id]);
    this.#writers.set(handle, writer);
    return writer;
  }
}

serveWorker<StoreUser, StoreWorkerData>((main, data) => new StoreServer(main, data), {
  knownErrors: STORE_ERRORS,
  joins: true,
});
