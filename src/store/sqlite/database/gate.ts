import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolderSync } from '../../../base/paths/make-folder.ts';
import { makePrivate } from '../../../base/paths/make-private.ts';
import { hasErrorCode, systemErrorCode } from '../../../base/system-error-code.ts';
import { StoreError } from '../../store-error.ts';
import type { Connect } from '../connect/load-sqlite.ts';
import { posixLocks } from '../connect/posix-locks.ts';

export interface GateDeps {
  /** The database file. */
  file: string;
  connect: Connect;
}

/** The right to use the database file. */
export interface Gate {
  leave(): void;
}

/**
 * Enters the gate together with others: every process does so before it opens the database file,
 * and stays until it has closed it. The lock of SQLite is on a file beside the database, because a
 * damaged database cannot be locked, and a replaced one is another file. The system releases it
 * when the process ends, however it ends. Throws `store_failed` if another process is still alone
 * after `waitMs`.
 */
export function enterGate(deps: GateDeps, waitMs: number): Gate {
  const gate = lockedGate(deps, { alone: false, waitMs });
  if (gate !== null) return gate;
  const text = `cannot be used, because another process restores, repairs or compacts it${named(gatePids(deps.file))}: try again later`;
  throw new StoreError('store_failed', `${deps.file} ${text}`);
}

/**
 * Enters the gate alone. Returns null if others use the database file and do not leave within
 * `waitMs`.
 */
export function enterGateAlone(deps: GateDeps, waitMs: number): Gate | null {
  return lockedGate(deps, { alone: true, waitMs });
}

/** The error for a database file that others use. */
export function inUse(file: string): StoreError {
  const pids = gatePids(file);
  const text = `${file} is in use by heddle${named(pids)}: end it and try again`;
  return new StoreError('store_failed', text, { pids });
}

/**
 * The ids of the processes that use the database file, ascending. Empty where the system does not
 * tell.
 */
function gatePids(file: string): number[] {
  const inode = statSync(gateFile(file), { throwIfNoEntry: false })?.ino;
  const pids = (posixLocks() ?? []).filter((lock) => lock.inode === inode).map(({ pid }) => pid);
  return [...new Set(pids)].sort((a, b) => a - b);
}

/** The file that asks all processes to leave the gate for a moment. */
export function leaveRequestFile(file: string): string {
  return join(gateFolder(file), 'leave-request');
}

/** A string that changes with each request to leave the gate. */
export function leaveRequestOf(file: string): string | null {
  const stats = statSync(leaveRequestFile(file), { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.ino}:${stats.mtimeNs}`;
}

/**
 * Runs `work` while all other processes are asked to leave the gate. They enter it again as soon as
 * they can.
 */
export function whileOthersLeave<T>(file: string, work: () => T): T {
  const request = leaveRequestFile(file);
  makeFolderSync(gateFolder(file), 0o700);
  rmSync(request, { force: true });
  closeSync(openSync(request, 'w', 0o600));
  try {
    return work();
  } finally {
    rmSync(request, { force: true });
  }
}

function lockedGate(
  { file, connect }: GateDeps,
  { alone, waitMs }: { alone: boolean; waitMs: number },
): Gate | null {
  const folder = gateFolder(file);
  makeFolderSync(folder, 0o700);
  makePrivate(folder);
  const path = gateFile(file);
  // Made here for its mode. It is never removed: whoever opened it before would lock a file that
  // others do not see.
  if (statSync(path, { throwIfNoEntry: false }) === undefined) createFile(path);
  const lock = connect(path, { timeout: waitMs });
  try {
    lock.pragma('journal_mode = MEMORY');
    lock.exec(alone ? 'BEGIN EXCLUSIVE' : 'BEGIN; SELECT 1 FROM sqlite_master');
    return { leave: () => lock.close() };
  } catch (error) {
    lock.close();
    if (systemErrorCode(error)?.startsWith('SQLITE_BUSY')) return null;
    throw error;
  }
}

function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!hasErrorCode(error, ['EEXIST'])) throw error;
  }
}

function gateFile(file: string): string {
  return join(gateFolder(file), 'gate');
}

function gateFolder(file: string): string {
  return join(dirname(file), 'heddle-writers');
}

function named(pids: readonly number[]): string {
  return pids.length === 0 ? '' : ` (pid ${pids.join(', ')})`;
}
