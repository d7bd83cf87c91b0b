import { activeWriter, StoreError, writerClosed } from '../store-error.ts';
import type { LogEntry, ThreadWriter, WriteChanges } from '../thread-store.ts';
import type { ThreadDatabase } from './database/thread-database.ts';
import type { JoinedWrite } from './store-queue.ts';

/** The store, as its writers use it. */
export interface WriterDeps {
  /** Whether the thread is ephemeral. */
  readonly inMemory: boolean;
  /** The thread's database: another one after a repair. */
  database(): ThreadDatabase;
  now(): number;
  /** Commits the write, maybe together with others. Rejects with a StoreError. */
  write(write: JoinedWrite): Promise<void>;
  /** Resolves when all committed writes survive a power failure. If that fails, calls `undo` in a transaction, and rejects. */
  makeDurable(threadId: string, undo: () => void): Promise<void>;
  /** Throws `active_writer` if another process has taken over the thread. */
  assertHeld(threadId: string): void;
  /** Tells the store that the thread's writer is closed. Resolves when the thread is free. Never rejects. */
  release(threadId: string): Promise<void>;
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

  /** The ordinal of the last entry. */
  get tip(): number {
    return this.#tip;
  }

  /** Whether the thread is ephemeral. */
  get inMemory(): boolean {
    return this.#deps.inMemory;
  }

  async append(entries: LogEntry[], { patch, partials = [], dropped = [], durable = false }: WriteChanges = {}): Promise<void> {
    const append = () => {
      const database = this.#deps.database();
      for (const item of partials) database.partials.put(this.threadId, { savedAtMs: this.#deps.now(), item });
      for (const itemId of dropped) database.partials.remove(this.threadId, itemId);
      if (entries.length === 0 && patch === undefined) return;
      const [before, tip] = [this.#tip, this.#tip + entries.length];
      if (!database.threads.advance(this.threadId, before, { tip, writtenAtMs: this.#deps.now() })) throw activeWriter(this.threadId, 0);
      database.logs.append(this.#logId, before, entries);
      this.#forgetPartials(entries);
      if (patch !== undefined) database.threads.patch(this.threadId, patch, this.#logId);
    };
    let end = this.#tip;
    await this.#write(append, () => {
      this.#tip += entries.length;
      end = this.#tip;
    });
    if (durable) await this.#deps.makeDurable(this.threadId, () => this.#undo(end - entries.length, end));
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
    if (this.#closed) return;
    this.#closed = true;
    await this.#deps.release(this.threadId);
  }

  /**
   * Removes the entries behind `tip`, the last of which is at `end`. The caller was told that they are not stored, and may store them
   * again. Throws if the log has more entries by now.
   */
  #undo(tip: number, end: number): void {
    const database = this.#deps.database();
    if (!database.threads.advance(this.threadId, end, { tip, writtenAtMs: this.#deps.now() })) throw activeWriter(this.threadId, 0);
    database.logs.cut(this.#logId, tip);
    this.#tip = tip;
  }

  async #write(work: () => void, committed: () => void): Promise<void> {
    const run = () => {
      // Once more, because the write may have waited.
      this.#assertOpen();
      this.#deps.assertHeld(this.threadId);
      work();
    };
    this.#assertOpen();
    await this.#deps.write({ key: this.threadId, run, committed });
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
    if (this.#closed) throw writerClosed(this.threadId);
  }
}
