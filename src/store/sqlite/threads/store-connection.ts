import { activeWriter } from '../../store-error.ts';
import type { ThreadDatabase } from '../database/thread-database.ts';
import { StoreDatabases } from '../store-databases.ts';
import type { JoinedWrite } from '../store-queue.ts';
import { type LogTail, SqliteWriter, type WriterDeps } from './sqlite-writer.ts';

/**
 * An open store: the database file, the database in memory for ephemeral threads, the leases, and
 * this process's writers.
 */
export class StoreConnection extends StoreDatabases {
  readonly #writers = new Map<string, SqliteWriter>();
  /** The ids of threads whose writers are closed and whose leases are not released yet. */
  readonly #released = new Set<string>();
  /** The ids of ephemeral threads that hold logs of the file. */
  readonly #holding = new Set<string>();
  /** The release of closed writers that is about to run. */
  #releasing: Promise<void> | null = null;

  /**
   * Gives this process the lease of a thread. Call it within `writeAsOwner`. Throws
   * `active_writer`.
   */
  takeThread(database: ThreadDatabase, threadId: string): void {
    if (this.#writers.has(threadId)) throw activeWriter(threadId, this.options.pid);
    if (!database.inMemory) this.store.leases.take(threadId);
  }

  /** Throws `active_writer` while another process has the thread. */
  assertNotHeldElsewhere(threadId: string): void {
    this.store.leases.assertNotElsewhere(threadId);
  }

  /** Removes the lease of a deleted thread. Call it within a transaction. */
  forgetLease(threadId: string): void {
    this.store.leases.forget(threadId);
  }

  /**
   * Returns the result of `cut`, and holds its logs of the file for an ephemeral thread, in the
   * same transaction, so that no other process can discard them in between. Throws
   * `store_read_only` and `store_full`.
   */
  holdLogs<T extends { segments: { logId: number }[] }>(threadId: string, cut: () => T): T {
    return this.guard(() => {
      const disk = this.writable(this.disk);
      return this.writeAsOwner(disk, () => {
        const found = cut();
        const logIds = found.segments.map(({ logId }) => logId).filter((logId) => logId > 0);
        if (logIds.length === 0) return found;
        this.store.leases.hold(threadId, logIds);
        this.#holding.add(threadId);
        return found;
      });
    });
  }

  /** The log of a staged history of this process; null: there is none. */
  stagedLog(stagedId: string): number | null {
    return this.store.leases.heldLog(stagedId);
  }

  /**
   * Sets the log of a staged history. Null: it has none any more, and the log is removed unless a
   * thread has it. Call it within `writeAsOwner`.
   */
  setStagedLog(stagedId: string, logId: number | null): void {
    this.store.leases.hold(stagedId, logId === null ? [] : [logId]);
    this.discarded();
  }

  /** Releases all logs that an ephemeral thread holds, except these. */
  releaseExcept(threadId: string, logIds: readonly number[]): void {
    if (!this.#holding.has(threadId)) return;
    const kept = logIds.filter((logId) => logId > 0);
    void this.release({ threadId }, () =>
      this.write(this.disk, () => this.store.leases.hold(threadId, kept)),
    );
    if (kept.length === 0) this.#holding.delete(threadId);
  }

  /** Whether a writer has the thread, in this process or another. */
  isLive(threadId: string): boolean {
    return this.#writers.has(threadId) || this.store.leases.isHeldElsewhere(threadId);
  }

  /** Makes the writer of a thread that this process has taken. */
  addWriter(database: ThreadDatabase, tail: LogTail): SqliteWriter {
    const current = () => (database.inMemory ? database : this.disk);
    const deps: WriterDeps = {
      inMemory: database.inMemory,
      database: current,
      now: () => this.now(),
      // Nothing else can lock the database in memory.
      write: async (write: JoinedWrite) =>
        database.inMemory ? this.commitAlone(database, write) : this.queue.join(write),
      makeDurable: async (undo: JoinedWrite) =>
        database.inMemory ? undefined : this.makeDurable(undo),
      assertHeld: (threadId: string) =>
        database.inMemory ? undefined : this.store.leases.assertHeld(threadId),
      release: (threadId: string) => this.#releaseThread(database, threadId),
    };
    const writer = new SqliteWriter(deps, tail);
    this.#writers.set(tail.threadId, writer);
    return writer;
  }

  /** Moves the writer of a thread to another log, if this process has the writer. */
  moveWriter(tail: Omit<LogTail, 'writeId'>): void {
    this.discarded();
    this.#writers.get(tail.threadId)?.move(tail);
  }

  /** Closes the writer of a deleted thread, if this process has it. */
  closeWriter(threadId: string): void {
    this.discarded();
    void this.#writers.get(threadId)?.close();
  }

  async close(): Promise<void> {
    const closing: Promise<unknown>[] = [...this.#writers.values()].map((writer) => writer.close());
    if (this.#holding.size > 0)
      closing.push(
        this.release({}, () => this.write(this.disk, () => this.store.leases.releaseAll())),
      );
    await this.closeDatabases(closing);
  }

  protected override takeAgain(): void {
    const writers = [...this.#writers.values()].filter((writer) => !writer.inMemory);
    const kept = writers.filter(
      ({ tail }) => this.store.disk.threads.endsAt(tail) || this.#lose(tail.threadId),
    );
    if (kept.length === 0 && this.#holding.size === 0) return;
    this.writeAsOwner(this.disk, () => {
      // A thread that another process has taken meanwhile stays there, and its writer here is
      // refused.
      for (const { threadId } of kept)
        if (!this.store.leases.isHeldElsewhere(threadId)) this.store.leases.take(threadId);
      for (const threadId of this.#holding)
        this.store.leases.hold(threadId, this.#logsHeldBy(threadId));
    });
  }

  /** Ends the writer of a thread that a repair could not save as it was. Returns false. */
  #lose(threadId: string): false {
    this.#writers
      .get(threadId)
      ?.lose(
        `${this.options.file} was damaged, and part of thread ${threadId} was lost: resume it`,
      );
    this.#writers.delete(threadId);
    return false;
  }

  #logsHeldBy(threadId: string): number[] {
    const segments = this.memory?.segments.list(threadId) ?? [];
    return segments.map(({ logId }) => logId).filter((logId) => logId > 0);
  }

  protected override isWriting(): boolean {
    return this.#holding.size > 0 || [...this.#writers.values()].some((writer) => !writer.inMemory);
  }

  #releaseThread(database: ThreadDatabase, threadId: string): Promise<void> {
    this.#writers.delete(threadId);
    if (database.inMemory) return Promise.resolve();
    this.#released.add(threadId);
    // All writers that are closed in the same moment are released at once.
    this.#releasing ??= this.release({ threadId }, () => this.#releaseClosed());
    return this.#releasing;
  }

  #releaseClosed(): void {
    this.#releasing = null;
    this.write(this.disk, () => {
      for (const id of this.#released) if (!this.#writers.has(id)) this.store.leases.release(id);
    });
    this.#released.clear();
  }
}
