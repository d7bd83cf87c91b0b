import { StoreError, writerClosed } from '../../store-error.ts';
import type { LogEntry, StoredItem, ThreadPatch, ThreadStore, ThreadWriter } from '../../thread-store.ts';
import { STORE_METHODS, type StoreMethod, type WriterHandle, type WriterMethod } from './store-call.ts';
import { StoreThread, type StoreThreadOptions } from './store-thread.ts';

export interface WorkerStore extends ThreadStore {
  /** Starts the thread, and opens the database if it exists, so that the next call need not wait for that. Never throws. */
  warmUp(): void;
}

/**
 * Stores threads in one SQLite file, as `createSqliteStore` does, in a thread of its own: no lock and no slow disk blocks the
 * caller's thread. The thread starts at the first use. `close` ends it.
 */
export function createWorkerStore(options: StoreThreadOptions): WorkerStore {
  const thread = new StoreThread(options);
  let isClosed = false;
  const call = async (method: StoreMethod, args: readonly unknown[]): Promise<unknown> => {
    if (isClosed) throw new StoreError('store_failed', `${options.file} cannot be used (the store is closed)`);
    const value = await thread.call({ method, args });
    return STORE_METHODS[method] === 'writer' ? new RemoteWriter(thread, value as WriterHandle) : value;
  };
  const names = Object.keys(STORE_METHODS) as StoreMethod[];
  const methods = names.map((name) => [name, (...args: readonly unknown[]) => call(name, args)] as const);
  return {
    ...(Object.fromEntries(methods) as unknown as ThreadStore),
    warmUp() {
      if (!isClosed) thread.call({ method: 'warmUp', args: [] }).catch(() => {});
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      if (!thread.isRunning) return;
      try {
        await thread.call({ method: 'close', args: [] });
      } finally {
        await thread.end();
      }
    },
  };
}

/** The writer of a thread, by its handle in the store's thread. */
class RemoteWriter implements ThreadWriter {
  readonly threadId: string;
  readonly #thread: StoreThread;
  readonly #handle: number;
  readonly #start: number;
  #isClosed = false;

  constructor(thread: StoreThread, { handle, threadId }: WriterHandle) {
    this.threadId = threadId;
    this.#thread = thread;
    this.#handle = handle;
    this.#start = thread.starts;
  }

  append(entries: LogEntry[], options: { patch?: ThreadPatch; durable?: boolean } = {}): Promise<void> {
    return this.#call('append', [entries, options]);
  }

  savePartial(item: StoredItem): Promise<void> {
    return this.#call('savePartial', [item]);
  }

  dropPartials(itemIds: readonly string[]): Promise<void> {
    return this.#call('dropPartials', [itemIds]);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // If the thread has ended, it has no locks.
    if (this.#isHeld()) await this.#thread.call({ method: 'close', args: [], handle: this.#handle });
  }

  async #call(method: WriterMethod, args: readonly unknown[]): Promise<void> {
    if (this.#isClosed) throw writerClosed(this.threadId);
    if (!this.#isHeld()) throw writerLost(this.threadId);
    await this.#thread.call({ method, args, handle: this.#handle });
  }

  /** Whether the thread in which the writer was opened still runs. */
  #isHeld(): boolean {
    return this.#thread.isRunning && this.#thread.starts === this.#start;
  }
}

function writerLost(threadId: string): StoreError {
  const why = 'because the thread of the store has died: resume the thread again, in this server or another';
  return new StoreError('store_failed', `the writer of thread ${threadId} is lost, ${why}`, { threadId });
}
