import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFile, syncFolder } from './sync-file.ts';

/**
 * Why a database is replaced: it is damaged, or a backup is restored. The name of the file that is
 * set aside says so.
 */
const REASONS = ['damaged', 'replaced'] as const;
export type SwapReason = (typeof REASONS)[number];

/**
 * Replaces the database by `draft`, a complete database without a WAL, and returns the path where
 * the old one is set aside with its WAL, or null if there was none. Call it alone in the gate.
 * After a kill, the next process finishes it. Throws the system's error.
 */
export function swapDatabase(file: string, draft: string, reason: SwapReason): string | null {
  syncFile(draft);
  renameSync(draft, nextFile(file, reason));
  return finishSwap(file, reason);
}

/** Whether a process has died while it replaced the database. */
export function isSwapPending(file: string): boolean {
  return REASONS.some((reason) => existsSync(nextFile(file, reason)));
}

/** Finishes what a process that has died had begun. Call it alone in the gate. */
export function finishSwaps(file: string): void {
  for (const reason of REASONS) if (existsSync(nextFile(file, reason))) finishSwap(file, reason);
}

/**
 * Each step can be the last one before a kill. The old files are named after the time of the new
 * one, so a repetition uses the same names. The WAL goes first: SQLite would apply it to the new
 * database.
 */
function finishSwap(file: string, reason: SwapReason): string | null {
  const next = nextFile(file, reason);
  const aside = `${file}.${reason}-${statSync(next).mtime.toISOString().replace(/[:.]/g, '-')}`;
  if (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size === 0) rmSync(`${file}-wal`);
  for (const end of ['-wal', '']) if (existsSync(file + end)) renameSync(file + end, aside + end);
  rmSync(`${file}-shm`, { force: true });
  syncFolder(dirname(file));
  renameSync(next, file);
  syncFolder(dirname(file));
  return existsSync(aside) || existsSync(`${aside}-wal`) ? aside : null;
}

function nextFile(file: string, reason: SwapReason): string {
  return `${file}.next-${reason}`;
}
