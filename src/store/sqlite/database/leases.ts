import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, Statement } from 'better-sqlite3';
import { makeFolderSync } from '../../../base/make-folder.ts';
import { makePrivate } from '../../../base/make-private.ts';
import { activeWriter } from '../../store-error.ts';
import type { HeldLogs } from '../history/held-logs.ts';
import type { Connect } from './load-sqlite.ts';

export interface LeaseOptions {
  /** Where the owners' files lie. */
  folder: string;
  pid: number;
  connect: Connect;
  /** What dead owners held is let go of with their leases. */
  held: HeldLogs;
}

interface LeaseRow {
  owner: string;
  pid: number;
}

/**
 * Who may append to which thread, among all processes that share the database. An owner keeps a file of its own locked
 * for as long as it lives. The kernel drops the lock with the process, however it dies, so a lease is good exactly
 * while its owner's file is locked; process ids, which are used again, only tell people whom to look for.
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
    this.#release = db.prepare('DELETE FROM lease WHERE owner = ? AND thread_id NOT IN (SELECT value FROM json_each(?))');
  }

  /**
   * Becomes an owner, which comes before taking and holding anything, and clears away what dead ones left, in a transaction
   * of its own: it stays cleared whatever becomes of what it is done for. False where this is an owner already. What fails
   * here leaves nothing, so that it can be tried again.
   */
  enter(transact: (work: () => void) => void): boolean {
    if (this.#lock !== null) return false;
    makeFolderSync(this.#folder, 0o700);
    makePrivate(this.#folder);
    const file = this.#file(this.#owner);
    let lock: Database | null = null;
    try {
      closeSync(openSync(file, 'w', 0o600));
      lock = this.#connect(file);
      lock.pragma('journal_mode = MEMORY');
      lock.exec('BEGIN EXCLUSIVE');
      transact(() => this.#clearDead());
      this.#lock = lock;
      return true;
    } catch (error) {
      lock?.close();
      rmSync(file, { force: true });
      throw error;
    }
  }

  /** Within a transaction, as an owner. Throws `active_writer` while another owner lives that has the thread. */
  take(threadId: string): void {
    this.#assertEntered();
    this.assertNotElsewhere(threadId);
    this.#put.run(threadId, this.#owner, this.#pid);
  }

  /** Throws `active_writer` while another owner lives that has the thread. */
  assertNotElsewhere(threadId: string): void {
    const lease = this.#get.get(threadId);
    if (lease !== undefined && lease.owner !== this.#owner && this.#lives(lease.owner)) throw activeWriter(threadId, lease.pid);
  }

  /** Within a transaction: nobody has a thread that is gone. */
  forget(threadId: string): void {
    this.#forgetThread.run(threadId);
  }

  /** Within a transaction, as an owner: an ephemeral thread of this process holds these logs from now on, and no others. */
  hold(threadId: string, logIds: readonly number[]): void {
    this.#assertEntered();
    this.#held.replace(this.#owner, threadId, logIds);
  }

  /** Within a transaction: this process holds no logs any more. */
  letGo(): void {
    this.#held.letGo(this.#owner);
  }

  /** Throws `active_writer` where the thread has been taken over. */
  assertHeld(threadId: string): void {
    const lease = this.#get.get(threadId);
    if (lease?.owner !== this.#owner) throw activeWriter(threadId, lease?.pid ?? 0);
  }

  /** Gives up every thread but these, so that what once could not be given up is given up later. */
  keepOnly(threadIds: Iterable<string>): void {
    this.#release.run(this.#owner, JSON.stringify([...threadIds]));
  }

  /** Whether another living owner has the thread. */
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

  /** Without the lock on its file others would take this owner for dead. */
  #assertEntered(): void {
    if (this.#lock === null) throw new Error('a lease is taken by what is no owner yet');
  }

  #clearDead(): void {
    const owners = new Set([...this.#owners.all().map(({ owner }) => owner), ...this.#held.owners()]);
    for (const owner of owners) {
      if (this.#lives(owner)) continue;
      this.#forgetOwner.run(owner);
      this.#held.letGo(owner);
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
      if (String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')) return true;
      this.#endProbe(owner);
      // It has just gone.
      if (!existsSync(file)) return false;
      throw error;
    }
  }

  /** A connection to another owner's file, kept while that owner lives: its lock is asked for at every read of its threads. */
  #probe(owner: string, file: string): Database {
    const probe = this.#probes.get(owner) ?? this.#connect(file, { readonly: true, fileMustExist: true, timeout: 0 });
    this.#probes.set(owner, probe);
    return probe;
  }

  #endProbe(owner: string): void {
    this.#probes.get(owner)?.close();
    this.#probes.delete(owner);
  }

  #file(owner: string): string {
    return join(this.#folder, `${owner}.lock`);
  }
}
