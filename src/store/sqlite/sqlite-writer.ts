import { activeWriter, StoreError } from '../store-error.ts';
import type { LogEntry, StoredItem, ThreadPatch, ThreadWriter } from '../thread-store.ts';
import type { ThreadDatabase } from './database/thread-database.ts';

/** The store, as its writers use it. */
export interface WriterDeps {
  /** Whether the thread is ephemeral. */
  readonly inMemory: boolean;
  /** The thread's database: another one after a repair. */
  database(): ThreadDatabase;
  now(): number;
  /** Runs `work` in one transaction. Throws a StoreError. With `durable` the write survives a power failure. */
  write<T>(work: () => T, durable?: boolean): T;
  /** Throws `active_writer` if another process has taken over the thread. */
  assertHeld(threadId: string): void;
  /** Tells the store that the thread's writer is closed. */
  release(threadId: string): void;
}

/** The log that a thread's writer appends to, and the ordinal of its last entry. */
export interface LogTail {
  threadId: string;
  logId: number;
  tip: number;
}

export class SqliteWriter implements ThreadWriter {
  readonly threadId: string;
  readonly #deps: WriterDeps;
  #logId: number;
  #tip: number;
  #closed = false;
  #lostBy: string | null = null;

  constructor(deps: WriterDeps, { threadId, logId, tip }: LogTail) {
    this.threadId = threadId;
    this.#deps = deps;
    this.#logId = logId;
    this.#tip = tip;
  }

  /** Whether the thread is ephemeral. */
  get inMemory(): boolean {
    return this.#deps.inMemory;
  }

  async append(entries: LogEntry[], { patch, durable = false }: { patch?: ThreadPatch; durable?: boolean } = {}): Promise<void> {
    this.#assertOpen();
    const tip = this.#tip + entries.length;
    this.#deps.write(() => {
      const database = this.#deps.database();
      this.#deps.assertHeld(this.threadId);
      if (!database.threads.advance(this.threadId, this.#tip, { tip, writtenAtMs: this.#deps.now() })) throw activeWriter(this.threadId, 0);
      database.logs.append(this.#logId, this.#tip, entries);
      this.#forgetPartials(entries);
      if (patch !== undefined) database.threads.patch(this.threadId, patch, this.#logId);
    }, durable);
    this.#tip = tip;
  }

  async savePartial(item: StoredItem): Promise<void> {
    this.#assertOpen();
    this.#deps.write(() => {
      this.#deps.assertHeld(this.threadId);
      this.#deps.database().partials.put(this.threadId, { savedAtMs: this.#deps.now(), item });
    });
  }

  async dropPartials(itemIds: readonly string[]): Promise<void> {
    this.#assertOpen();
    this.#deps.write(() => {
      this.#deps.assertHeld(this.threadId);
      for (const itemId of itemIds) this.#deps.database().partials.remove(this.threadId, itemId);
    });
  }

  get tail(): LogTail {
    return { threadId: this.threadId, logId: this.#logId, tip: this.#tip };
  }

  /** Refuses all further writes with `store_damaged` and this reason. */
  lose(reason: string): void {
    this.#closed = true;
    this.#lostBy = reason;
  }

  /** Continues in another log. */
  move({ logId, tip }: LogTail): void {
    this.#logId = logId;
    this.#tip = tip;
  }

  async close(): Promise<void> {
    this.end();
  }

  /** Closes the writer, synchronously. */
  end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#deps.release(this.threadId);
  }

  #forgetPartials(entries: LogEntry[]): void {
    const { partials } = this.#deps.database();
    const running: string[] = [];
    for (const entry of entries) {
      if (entry.kind === 'item' && entry.running) running.push(entry.item.id);
      else if (entry.kind === 'item' || entry.kind === 'lateItem') partials.remove(this.threadId, entry.item.id);
      else if (entry.kind === 'turnEnded') partials.removeTurn(this.threadId, entry.turnId, running);
    }
  }

  #assertOpen(): void {
    if (this.#lostBy !== null) throw new StoreError('store_damaged', this.#lostBy);
    if (this.#closed) throw new StoreError('store_failed', `the writer of thread ${this.threadId} is closed`);
  }
}
