import { writerClosed } from '../../store-error.ts';
import type { LogEntry, ThreadWriter, WriteChanges } from '../../thread-store.ts';
import type { WriterHandle, WriterMethod } from './store-call.ts';
import type { StoreThread } from './store-thread.ts';

/**
 * The writer of a thread, by its handle in the thread of the store. If that has died, the next call opens the writer in the new one,
 * if nobody has written to the thread since.
 */
export class RemoteWriter implements ThreadWriter {
  readonly threadId: string;
  readonly #thread: StoreThread;
  #handle: number;
  #tip: number;
  /** The number of the thread that has the handle. */
  #start: number;
  #resuming: Promise<void> | null = null;
  #isClosed = false;

  constructor(thread: StoreThread, { handle, threadId, tip }: WriterHandle) {
    this.threadId = threadId;
    this.#thread = thread;
    this.#handle = handle;
    this.#tip = tip;
    this.#start = thread.starts;
  }

  append(entries: LogEntry[], changes: WriteChanges = {}): Promise<void> {
    return this.#call('append', [entries, changes]);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#resuming !== null) await this.#resuming.catch(() => {});
    // If the thread has ended, it has no locks.
    if (this.#isHeld()) await this.#thread.call({ method: 'close', args: [], handle: this.#handle });
  }

  async #call(method: WriterMethod, args: readonly unknown[]): Promise<void> {
    if (this.#isClosed) throw writerClosed(this.threadId);
    if (!this.#isHeld()) await this.#resume();
    this.#tip = (await this.#thread.call({ method, args, handle: this.#handle })) as number;
  }

  #resume(): Promise<void> {
    this.#resuming ??= this.#open().finally(() => {
      this.#resuming = null;
    });
    return this.#resuming;
  }

  async #open(): Promise<void> {
    const { handle } = (await this.#thread.call({ method: 'resumeWriter', args: [this.threadId, this.#tip] })) as WriterHandle;
    this.#handle = handle;
    this.#start = this.#thread.starts;
  }

  /** Whether the thread in which the writer was opened still runs. */
  #isHeld(): boolean {
    return this.#thread.isRunning && this.#thread.starts === this.#start;
  }
}
