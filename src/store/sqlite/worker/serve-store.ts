import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { monotonicMs, systemClock } from '../../../base/clock.ts';
import type { Log, LogMethod } from '../../../base/log.ts';
import { createSqliteStore, type SqliteStore } from '../create-sqlite-store.ts';
import { LongTexts } from '../history/long-texts.ts';
import type { SqliteStoreOptions } from '../store-access.ts';
import type { SqliteWriter, WriteIdentity } from '../threads/sqlite-writer.ts';
import { callAgain } from './call-again.ts';
import {
  errorData,
  type OpenedWriter,
  STORE_METHODS,
  type StoreAnswer,
  type StoreCall,
  type StoreMethod,
  type StoreReply,
  type WriterHandle,
} from './store-call.ts';

export type ServedStoreOptions = Pick<
  SqliteStoreOptions,
  'file' | 'migrationsDir' | 'tempDir' | 'pid' | 'nodeVersions'
>;
export type StoreWorkerData = ServedStoreOptions & {
  /** The key of stand-ins for long texts. */
  longTextKey: string;
};

/** After this time, calls that come wait for the next round of the event loop. */
const ROUND_MS_MAX = 8;

type Target = Record<string, (...args: readonly unknown[]) => Promise<unknown>>;

/** Opens a store, and performs the calls that come through the port. */
export function serveStore(port: MessagePort, options: StoreWorkerData): void {
  new StoreServer(port, options).listen();
}

class StoreServer {
  readonly #port: MessagePort;
  readonly #store: SqliteStore;
  readonly #longTexts: LongTexts;
  readonly #writers = new Map<number, SqliteWriter>();
  #nowMs = 0;
  readonly #received: StoreCall[] = [];
  /** When the calls of this round of the event loop began. */
  #roundSinceMs: number | null = null;
  #answers: StoreAnswer[] = [];

  constructor(port: MessagePort, { longTextKey, ...options }: StoreWorkerData) {
    this.#port = port;
    this.#longTexts = new LongTexts(longTextKey);
    const clock = { ...systemClock, now: () => this.#nowMs };
    const send = (reply: StoreReply) => this.#port.postMessage(reply);
    const longTexts = this.#longTexts;
    this.#store = createSqliteStore({
      ...options,
      longTexts,
      clock,
      log: portLog(send),
      onRepaired: (repaired) => send({ repaired }),
    });
  }

  listen(): void {
    this.#port.postMessage({ ready: true } satisfies StoreReply);
    this.#port.on('message', (first: StoreCall[]) => {
      this.#received.push(...first);
      // All calls that wait are made in this moment, so that the store joins their writes.
      for (
        let next = receiveMessageOnPort(this.#port);
        next !== undefined;
        next = receiveMessageOnPort(this.#port)
      )
        this.#received.push(...(next.message as StoreCall[]));
      this.#performReceived();
    });
  }

  /**
   * A caller that makes its next call at once would be answered for ever in one round of the event
   * loop, and what is put off never.
   */
  #performReceived(): void {
    if (this.#roundSinceMs === null) {
      this.#roundSinceMs = monotonicMs();
      setImmediate(() => {
        this.#roundSinceMs = null;
        if (this.#received.length > 0) this.#performReceived();
      });
    }
    if (monotonicMs() - this.#roundSinceMs > ROUND_MS_MAX) return;
    for (const call of this.#received.splice(0)) void this.#perform(call);
  }

  async #perform(call: StoreCall): Promise<void> {
    const { id, writer } = call;
    this.#nowMs = call.nowMs;
    try {
      const { made } = this.#longTexts;
      const value = await (writer === null
        ? this.#callStore(call)
        : this.#callWriter(writer, call));
      this.#answer({ id, value, ...(this.#longTexts.made > made && { hasLongTexts: true }) });
    } catch (error) {
      this.#answer({ id, error: errorData(error) });
    }
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

  /** The answers of one moment are one message. */
  #answer(answer: StoreAnswer): void {
    this.#answers.push(answer);
    if (this.#answers.length > 1) return;
    queueMicrotask(() => {
      const answers = this.#answers;
      this.#answers = [];
      this.#port.postMessage({ answers } satisfies StoreReply);
    });
  }
}

/** A log whose lines are sent to the caller's log. */
function portLog(send: (reply: StoreReply) => void): Log {
  const at = (level: keyof Log): LogMethod => {
    return (...[first, text]: [object, string] | [string, undefined?]) =>
      send(
        typeof first === 'string'
          ? { level, fields: {}, text: first }
          : { level, fields: withErrorData(first), text: text ?? '' },
      );
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

function withErrorData(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      value instanceof Error ? { error: errorData(value) } : (value as unknown),
    ]),
  );
}
