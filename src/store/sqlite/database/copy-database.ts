import { chmodSync, copyFileSync, existsSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { StoreError } from '../../store-error.ts';

const TRIES_MAX = 5;

/**
 * Copies a database and its WAL into a folder, and returns the path of the copy. Another process
 * may write to the database in the meantime. A WAL that grows is harmless. After a checkpoint, the
 * two copies may not fit together, so both are made again.
 */
export function copyDatabase(file: string, folder: string): string {
  const copy = join(folder, basename(file));
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const before = fileStamp(file);
    for (const end of ['', '-wal']) copyOver(file + end, copy + end);
    if (fileStamp(file) === before) return copy;
  }
  throw new StoreError(
    'store_failed',
    `${file} cannot be used (it changed during each of ${TRIES_MAX} attempts to copy it)`,
  );
}

/** A string that changes with every write to the database or its WAL. */
export function databaseStamp(file: string): string {
  return `${fileStamp(file)} ${fileStamp(`${file}-wal`)}`;
}

function copyOver(from: string, to: string): void {
  // An earlier attempt may have left a WAL that no longer exists.
  rmSync(to, { force: true });
  try {
    copyFileSync(from, to);
  } catch (error) {
    if (existsSync(from)) throw error;
    return;
  }
  chmodSync(to, 0o600);
}

function fileStamp(path: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(path, { bigint: true });
    return `${ino}:${size}:${mtimeNs}`;
  } catch {
    // A file that cannot be examined cannot be copied either.
    return 'missing';
  }
}
