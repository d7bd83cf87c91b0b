import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, Statement } from 'better-sqlite3';
import { makeFolderSync } from '../../../base/paths/make-folder.ts';
import { makePrivate } from '../../../base/paths/make-private.ts';
import { systemErrorCode } from '../../../base/system-error-code.ts';
import { activeWriter } from '../../store-error.ts';
import type { Connect } from '../connect/load-sqlite.ts';
import type { HeldLogs } from '../history/held-logs.ts';

export interface LeaseOptions {
  /** The folder of the owners' lock files. */
  folder: string;
  pid: number;
  connect: Connect;
  /** Releases the logs of dead owners together with their leases. */
  held: HeldLogs;
}

interface LeaseRow {
  owner: string;
  pid: number;
}

/**
 * The leases of threads: they decide which of the processes that share the database may append to a
 * thread. Each owner keeps a lock file of its own locked while it lives. The kernel releases the
 * lock when the process ends, however it ends, so a lease is valid exactly while its owner's file
 * is locked. Process ids are reused, so they are only for error messages.
 */
export class Leases {
  readonly #folder: string;
  readonly #pid: number;
  readonly #connect: Connect;
  readonly #held: HeldLogs;
  readonly #owner = randomUUID();
  readonly #get: Statement<[string], LeaseRow>;
  readonly #put: Statement<[string, string, number]>;
  readonly #owners: Statement<[], { owner: string }>;
  readonly #forgetThread: Statement<[string]>;
  readonly #forgetOwner: Statement<[string]>;
  readonly #release: Statement<[string, string]>;
  readonly #probes = new Map<string, Database>();
  #lock: Database | null = null;

  constructor(db: Database, { folder, pid, connect, held }: LeaseOptions) {
    this.#folder = folder;
    this.#pid = pid;
    this.#connect = connect;
    this.#held = held;
    this.#get = db.prepare('SELECT owner, pid FROM lease WHERE thread_id = ?');
    this.#put = db.prepare('INSERT OR REPLACE INTO lease (thread_id, owner, pid) VALUES (?, ?, ?)');
    this.#owners = db.prepare('SELECT DISTINCT owner FROM lease');
    this.#forgetThread = db.prepare('DELETE FROM lease WHERE thread_id = ?');
    this.#forgetOwner = db.prepare('DELETE FROM lease WHERE owner = ?');
    this.#release = db.prepare('DELETE FROM lease WHERE owner = ? AND thread_id = ?');
  }

  /**
   * Makes this process an owner, which it must be before it takes threads or holds logs, and
   * removes what dead owners left. That has a transaction of its own, so it lasts even if the
   * caller's own write fails. Returns false if this process is an owner already. A failure leaves
   * nothing behind, so it can be tried again.
   */
  becomeOwner(transact: (work: () => void) => void): boolean {
    if (this.#lock !== null) return false;
    makeFolderSync(this.#folder, 0o700);
    makePrivate(this.#folder);
    const file = this.#file(this.#owner);
    let lock: Database | null = null;
    try {
      do {
        lock?.close();
        closeSync(openSync(file, 'w', 0o600));
        lock = this.#connect(file);
        lock.pragma('journal_mode = MEMORY');
        lock.exec('BEGIN EXCLUSIVE');
        // Another process that removes the lock files of dead ones may have removed it before it
        // was locked.
      } while (!existsSync(file));
      transact(() => this.#clearDead());
      this.#lock = lock;
      return true;
    } catch (error) {
      lock?.close();
      rmSync(file, { force: true });
      throw error;
    }
  }

  /** The owners in the database, dead or alive. */
  owners(): string[] {
    return [...new Set([...this.#owners.all().map(({ owner }) => owner), ...this.#held.owners()])];
  }

  /** The path of the file that this process keeps locked as an owner. */
  get lockFile(): string {
    return this.#file(this.#owner);
  }

  /**
   * Takes a thread. Call it as an owner, within a transaction. Throws `active_writer` while another
   * live owner has the thread.
   */
  take(threadId: string): void {
    this.#assertOwner();
    const before = this.#get.get(threadId)?.owner ?? this.#owner;
    this.assertNotElsewhere(threadId);
    this.#put.run(threadId, this.#owner, this.#pid);
    // That owner is dead. Once all its threads are taken, nothing tells of its lock file any more.
    if (before !== this.#owner) rmSync(this.#file(before), { force: true });
  }

  /** Throws `active_writer` while another live owner has the thread. */
  assertNotElsewhere(threadId: string): void {
    const lease = this.#get.get(threadId);
    if (lease !== undefined && lease.owner !== this.#owner && this.#lives(lease.owner))
      throw activeWriter(threadId, lease.pid);
  }

  /** Removes the lease of a deleted thread. Call it within a transaction. */
  forget(threadId: string): void {
    this.#forgetThread.run(threadId);
  }

  /**
   * Makes these the only logs that an ephemeral thread holds. Call it as an owner, within a
   * transaction.
   */
  hold(threadId: string, logIds: readonly number[]): void {
    this.#assertOwner();
    this.#held.replace(this.#owner, threadId, logIds);
  }

  /** The log that this process holds for something that has only one; null: none. */
  heldLog(id: string): number | null {
    return this.#held.logOf(this.#owner, id);
  }

  /** Releases all logs that this process holds. Call it within a transaction. */
  releaseAll(): void {
    this.#held.releaseAll(this.#owner);
  }

  /** Throws `active_writer` if another process has taken over the thread. */
  assertHeld(threadId: string): void {
    const lease = this.#get.get(threadId);
    if (lease?.owner !== this.#owner) throw activeWriter(threadId, lease?.pid ?? 0);
  }

  /** Releases a thread, unless another process has taken it over. */
  release(threadId: string): void {
    this.#release.run(this.#owner, threadId);
  }

  /** Whether another live owner has the thread. */
  isHeldElsewhere(threadId: string): boolean {
    const lease = this.#get.get(threadId);
    return lease !== undefined && lease.owner !== this.#owner && this.#lives(lease.owner);
  }

  close(): void {
    for (const owner of [...this.#probes.keys()]) this.#endProbe(owner);
    if (this.#lock === null) return;
    this.#lock.close();
    this.#lock = null;
    rmSync(this.#file(this.#owner), { force: true });
  }

  /** Without a lock on its file, other processes would regard this owner as dead. */
  #assertOwner(): void {
    if (this.#lock === null)
      throw new Error('this process must become an owner before it takes or holds anything');
  }

  #clearDead(): void {
    for (const owner of this.owners()) {
      if (this.#lives(owner)) continue;
      this.#forgetOwner.run(owner);
      this.#held.releaseAll(owner);
      rmSync(this.#file(owner), { force: true });
    }
  }

  #lives(owner: string): boolean {
    const file = this.#file(owner);
    try {
      if (existsSync(file)) this.#probe(owner, file).exec('SELECT 1 FROM sqlite_master');
      this.#endProbe(owner);
      return false;
    } catch (error) {
      if (systemErrorCode(error)?.startsWith('SQLITE_BUSY')) return true;
      this.#endProbe(owner);
      // Its owner has just removed it.
      if (!existsSync(file)) return false;
      throw error;
    }
  }

  /**
   * A connection to another owner's file, kept while that owner lives, because every read of its
   * threads tests the lock.
   */
  #probe(owner: string, file: string): Database {
    const probe =
      this.#probes.get(owner) ??
      this.#connect(file, { readonly: true, fileMustExist: true, timeout: 0 });
    this.#probes.set(owner, probe);
    return probe;
  }

  #endProbe(owner: string): void {
    this.#probes.get(owner)?.close();
    this.#probes.delete(owner);
  }

  #file(owner: string): string {
    return join(this.#folder, lockFileOf(owner));
  }
}

/** The name of an owner's lock file. */
export function lockFileOf(owner: string): string {
  return `${owner}.lock`;
}
