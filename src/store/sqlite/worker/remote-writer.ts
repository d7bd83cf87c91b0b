import { randomUUID } from 'node:crypto';
import { SerialQueue } from '../../../base/keyed-queue.ts';
import type { LogEntry } from '../../log-entry.ts';
import { isPiecesLost, writerClosed } from '../../store-error.ts';
import type { ThreadWriter, WriteChanges } from '../../thread-store.ts';
import type { WriteIdentity } from '../threads/sqlite-writer.ts';
import { LongTextSender } from './long-text-sender.ts';
import type { RemoteStore } from './remote-store.ts';
import type { OpenedWriter, WriterHandle, WriterMethod } from './store-call.ts';

/** How often an append is made again if what was stored for it is gone. */
const TRIES_MAX = 3;

/**
 * The writer of a thread, by its handle in the worker of the store. If that dies, the next call
 * opens the writer in another one, if nobody else has had the thread since. Each append has an
 * identity, which is stored with it, so that an append that is made again is stored once.
 */
export class RemoteWriter implements ThreadWriter {
  readonly threadId: string;
  readonly #store: RemoteStore;
  readonly #handle: WriterHandle;
  #lastWrite: string | null;
  /** There is one call at a time: an identity names the one before it. */
  readonly #queue = new SerialQueue();
  readonly #sender: LongTextSender;
  #isClosed = false;

  constructor(store: RemoteStore, { handle, threadId, lastWrite }: OpenedWriter) {
    this.threadId = threadId;
    this.#store = store;
    this.#handle = { handle, threadId };
    this.#lastWrite = lastWrite;
    this.#sender = new LongTextSender(store.longTexts, async (piece) => {
      const identity: WriteIdentity = { id: randomUUID(), after: this.#lastWrite };
      return (await this.#call('keep', [piece, identity])) as string;
    });
  }

  append(entries: LogEntry[], changes: WriteChanges = {}): Promise<void> {
    if (this.#isClosed) return Promise.reject(writerClosed(this.threadId));
    return this.#queue.run(async () => {
      for (let tries = 1; ; tries++) {
        try {
          await this.#append(entries, changes);
          return;
        } catch (error) {
          this.#sender.forget();
          // The pieces of a text are gone if the thread's log was replaced after they were stored.
          if (!isPiecesLost(error) || tries === TRIES_MAX) throw error;
        }
      }
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#queue.run(() => this.#call('close', []));
  }

  async #append(entries: LogEntry[], { partials, ...changes }: WriteChanges): Promise<void> {
    const sent = await this.#sender.send(entries);
    const saved = partials && { partials: await this.#sender.send(partials, { isGrowing: true }) };
    const changed = { ...changes, ...saved, queued: await this.#sender.send(changes.queued) };
    const identity: WriteIdentity = { id: randomUUID(), after: this.#lastWrite };
    try {
      this.#lastWrite = (await this.#call('append', [sent, changed, identity])) as string | null;
    } catch (error) {
      // The worker may have died of the append after it was stored.
      await this.#call('withdraw', [entries.length, identity]).catch(() => {});
      throw error;
    }
    if (entries.some(({ kind }) => kind === 'turnEnded')) this.#sender.forget();
  }

  #call(method: WriterMethod, args: readonly unknown[]): Promise<unknown> {
    return this.#store.call({ method, args, writer: this.#handle });
  }
}
