import { randomUUID } from 'node:crypto';
import type { LogEntry } from '../../log-entry.ts';
import { activeWriter, StoreError, writerClosed } from '../../store-error.ts';
import type { ThreadWriter, WriteChanges } from '../../thread-store.ts';
import type { ThreadDatabase } from '../database/thread-database.ts';
import type { JoinedWrite } from '../store-queue.ts';

/** The store, as its writers use it. */
export interface WriterDeps {
  /** Whether the thread is ephemeral. */
  readonly inMemory: boolean;
  /** The thread's database: another one after a repair. */
  database(): ThreadDatabase;
  now(): number;
  /** Commits the write, maybe together with others. Rejects with a StoreError. */
  write(write: JoinedWrite): Promise<void>;
  /**
   * Resolves when all committed writes survive a power failure. If that fails, and the write could
   * be undone, rejects.
   */
  makeDurable(undo: JoinedWrite): Promise<void>;
  /** Throws `active_writer` if another process has taken over the thread. */
  assertHeld(threadId: string): void;
  /**
   * Tells the store that the thread's writer is closed. Resolves when the thread is free. Never
   * rejects.
   */
  release(threadId: string): Promise<void>;
}

/**
 * The log that a thread's writer appends to, the ordinal of its last entry, and the identity of the
 * last write.
 */
export interface LogTail {
  threadId: string;
  logId: number;
  tip: number;
  /** Null: none since the thread was stored. */
  writeId: string | null;
}

/** What tells a write from all others. */
export interface WriteIdentity {
  id: string;
  /** The identity of the write before it. */
  after: string | null;
}

export class SqliteWriter implements ThreadWriter {
  readonly threadId: string;
  readonly #deps: WriterDeps;
  #logId: number;
  #tip: number;
  #writeId: string | null;
  #closed = false;
  #lostBy: string | null = null;

  constructor(deps: WriterDeps, { threadId, logId, tip, writeId }: LogTail) {
    this.threadId = threadId;
    this.#deps = deps;
    this.#logId = logId;
    this.#tip = tip;
    this.#writeId = writeId;
  }

  /** The identity of the last write. */
  get writeId(): string | null {
    return this.#writeId;
  }

  /** Whether the thread is ephemeral. */
  get inMemory(): boolean {
    return this.#deps.inMemory;
  }

  /**
   * Appends, unless the write with this identity is the last one of the thread, and so was stored
   * before its caller could be told.
   */
  async append(
    entries: LogEntry[],
    { patch, partials = [], dropped = [], queued = [], durable = false }: WriteChanges = {},
    { id, after }: WriteIdentity = { id: randomUUID(), after: this.#writeId },
  ): Promise<void> {
    let writeId = this.#writeId;
    const append = () => {
      const database = this.#deps.database();
      for (const item of partials)
        database.partials.put(this.threadId, { savedAtMs: this.#deps.now(), item }, this.#logId);
      for (const itemId of dropped) database.partials.remove(this.threadId, itemId);
      database.queues.store(this.threadId, { queued, queue: patch?.queue }, this.#logId);
      if (entries.length === 0 && patch === undefined) return;
      const [before, tip] = [this.#tip, this.#tip + entries.length];
      if (
        !database.threads.advance(this.threadId, before, {
          tip,
          writtenAtMs: this.#deps.now(),
          writeId: id,
        })
      )
        throw activeWriter(this.threadId, 0);
      writeId = id;
      database.logs.append(this.#logId, before, entries);
      this.#forgetPartials(entries);
      if (patch !== undefined) database.threads.patch(this.threadId, patch, this.#logId);
    };
    let end = this.#tip;
    const committed = () => {
      this.#tip += entries.length;
      this.#writeId = writeId;
      end = this.#tip;
    };
    if (this.#writeId !== id) await this.#write(append, committed);
    if (durable)
      await this.#deps.makeDurable(
        this.#undoing({ tip: end - entries.length, writeId: after }, end),
      );
  }

  /** Stores a piece of a text that the next write has a stand-in for. Returns its hash. */
  async keep(piece: string): Promise<string> {
    let hash = '';
    const run = () => {
      hash = this.#deps.database().blobs.keep(piece, this.#logId);
    };
    await this.#write(run, () => {});
    return hash;
  }

  /**
   * Removes the entries of the write with this identity, if it is the last one of the thread.
   * `entries`: how many there are.
   */
  async withdraw(entries: number, { id, after }: WriteIdentity): Promise<void> {
    if (this.#writeId !== id) return;
    const { run, committed } = this.#undoing(
      { tip: this.#tip - entries, writeId: after },
      this.#tip,
    );
    await this.#write(run, committed);
  }

  get tail(): LogTail {
    return { threadId: this.threadId, logId: this.#logId, tip: this.#tip, writeId: this.#writeId };
  }

  /** Refuses all further writes with `store_damaged` and this reason. */
  lose(reason: string): void {
    this.#closed = true;
    this.#lostBy = reason;
  }

  /** Continues in another log. */
  move({ logId, tip }: Omit<LogTail, 'writeId'>): void {
    this.#logId = logId;
    this.#tip = tip;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#deps.release(this.threadId);
  }

  /**
   * Returns the write that goes back to an earlier tip, and removes the entries behind it, the last
   * of which is at `end`. The caller was told that they are not stored, and may store them again.
   * Fails if the log has more entries by then.
   */
  #undoing({ tip, writeId }: Pick<LogTail, 'tip' | 'writeId'>, end: number): JoinedWrite {
    const run = () => {
      const database = this.#deps.database();
      const writtenAtMs = this.#deps.now();
      if (!database.threads.advance(this.threadId, end, { tip, writtenAtMs, writeId }))
        throw activeWriter(this.threadId, 0);
      database.logs.cut(this.#logId, tip);
    };
    const committed = () => {
      this.#tip = tip;
      this.#writeId = writeId;
    };
    return { key: this.threadId, run, committed };
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
      else if (entry.kind === 'item' || entry.kind === 'lateItem')
        partials.remove(this.threadId, entry.item.id);
      else if (entry.kind === 'turnEnded')
        partials.removeTurn(this.threadId, entry.turnId, running);
    }
  }

  #assertOpen(): void {
    if (this.#lostBy !== null) throw new StoreError('store_damaged', this.#lostBy);
    if (this.#closed) throw writerClosed(this.threadId);
  }
}
