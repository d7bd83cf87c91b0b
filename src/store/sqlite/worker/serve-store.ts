import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { systemClock } from '../../../base/clock.ts';
import type { Log, LogMethod } from '../../../base/log.ts';
import { createSqliteStore, type SqliteStore, type SqliteStoreOptions } from '../create-sqlite-store.ts';
import type { SqliteWriter } from '../sqlite-writer.ts';
import {
  errorData,
  STORE_METHODS,
  type StoreAnswer,
  type StoreCall,
  type StoreMethod,
  type StoreReply,
  type WriterHandle,
} from './store-call.ts';

export type ServedStoreOptions = Pick<SqliteStoreOptions, 'file' | 'migrationsDir' | 'tempDir' | 'pid' | 'nodeVersions'>;

type Target = Record<string, (...args: readonly unknown[]) => Promise<unknown>>;

/** Opens a store, and performs the calls that come through the port. */
export function serveStore(port: MessagePort, options: ServedStoreOptions): void {
  new StoreServer(port, options).listen();
}

class StoreServer {
  readonly #port: MessagePort;
  readonly #store: SqliteStore;
  readonly #writers = new Map<number, SqliteWriter>();
  #handles = 0;
  #nowMs = 0;
  #answers: StoreAnswer[] = [];

  constructor(port: MessagePort, options: ServedStoreOptions) {
    this.#port = port;
    const clock = { ...systemClock, now: () => this.#nowMs };
    const send = (reply: StoreReply) => this.#port.postMessage(reply);
    this.#store = createSqliteStore({ ...options, clock, log: portLog(send), onRepaired: (repaired) => send({ repaired }) });
  }

  listen(): void {
    this.#port.on('message', (first: StoreCall[]) => {
      this.#performAll(first);
      // All calls that wait are made in this moment, so that the store joins their writes.
      for (let next = receiveMessageOnPort(this.#port); next !== undefined; next = receiveMessageOnPort(this.#port))
        this.#performAll(next.message as StoreCall[]);
    });
  }

  #performAll(calls: StoreCall[]): void {
    for (const call of calls) void this.#perform(call);
  }

  async #perform({ id, handle, method, args, nowMs }: StoreCall): Promise<void> {
    this.#nowMs = nowMs;
    try {
      this.#answer({ id, value: await (handle === 0 ? this.#callStore(method, args) : this.#callWriter(handle, method, args)) });
    } catch (error) {
      this.#answer({ id, error: errorData(error) });
    }
  }

  async #callStore(method: StoreCall['method'], args: readonly unknown[]): Promise<unknown> {
    const value = await (this.#store as unknown as Target)[method]?.(...args);
    if (method !== 'resumeWriter' && STORE_METHODS[method as StoreMethod] !== 'writer') return value;
    const writer = value as SqliteWriter;
    const handle = ++this.#handles;
    this.#writers.set(handle, writer);
    return { handle, threadId: writer.threadId, tip: writer.tip } satisfies WriterHandle;
  }

  async #callWriter(handle: number, method: StoreCall['method'], args: readonly unknown[]): Promise<number> {
    const writer = this.#writers.get(handle);
    if (writer === undefined) throw new Error(`the store has no writer ${handle}`);
    await (writer as unknown as Target)[method]?.(...args);
    if (method === 'close') this.#writers.delete(handle);
    return writer.tip;
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
      send(typeof first === 'string' ? { level, fields: {}, text: first } : { level, fields: withErrorData(first), text: text ?? '' });
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

function withErrorData(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? { error: errorData(value) } : (value as unknown)]),
  );
}
