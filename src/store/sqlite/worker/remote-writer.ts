import { randomUUID } from 'node:crypto';
import { writerClosed } from '../../store-error.ts';
import type { LogEntry, ThreadWriter, WriteChanges } from '../../thread-store.ts';
import type { WriteIdentity } from '../sqlite-writer.ts';
import type { OpenedWriter, WriterHandle, WriterMethod } from './store-call.ts';
import type { StoreThread } from './store-thread.ts';

/**
 * The writer of a thread, by its handle in the thread of the store. If that dies, the next call opens the writer in another one, if
 * nobody else has had the thread since. Each append has an identity, which is stored with it, so that an append that is made again is
 * stored once.
 */
export class RemoteWriter implements ThreadWriter {
  readonly threadId: string;
  readonly #thread: StoreThread;
  readonly #handle: WriterHandle;
  #lastWrite: string | null;
  /** The end of the last call. There is one at a time: an identity names the one before it. */
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(thread: StoreThread, { handle, threadId, lastWrite }: OpenedWriter) {
    this.threadId = threadId;
    this.#thread = thread;
    this.#handle = { handle, threadId };
    this.#lastWrite = lastWrite;
  }

  append(entries: LogEntry[], changes: WriteChanges = {}): Promise<void> {
    if (this.#isClosed) return Promise.reject(writerClosed(this.threadId));
    return this.#next(async () => {
      const identity: WriteIdentity = { id: randomUUID(), after: this.#lastWrite };
      try {
        this.#lastWrite = (await this.#call('append', [entries, changes, identity])) as string | null;
      } catch (error) {
        // The thread may have died of the append after it was stored.
        await this.#call('withdraw', [entries.length, identity]).catch(() => {});
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#next(() => this.#call('close', []));
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work);
    this.#last = next.catch(() => {});
    return next;
  }

  #call(method: WriterMethod, args: readonly unknown[]): Promise<unknown> {
    return this.#thread.call({ method, args, writer: this.#handle });
  }
}
