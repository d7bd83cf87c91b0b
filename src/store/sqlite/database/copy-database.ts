import { chmodSync, copyFileSync, existsSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { StoreError } from '../../store-error.ts';

const TRIES_MAX = 5;

/**
 * Copies a database and its log of writes into a folder, and returns where the copy is. Its owner may write meanwhile:
 * a log that grows does no harm, but once the database takes up its log the two copies may not fit, and are made again.
 */
export function copyDatabase(file: string, folder: string): string {
  const copy = join(folder, basename(file));
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const before = fileStamp(file);
    for (const end of ['', '-wal']) copyOver(file + end, copy + end);
    if (fileStamp(file) === before) return copy;
  }
  throw new StoreError('store_failed', `${file} cannot be used (it changed whenever it was copied)`);
}

/** Changes with every write to the database or its log. */
export function databaseStamp(file: string): string {
  return `${fileStamp(file)} ${fileStamp(`${file}-wal`)}`;
}

function copyOver(from: string, to: string): void {
  // An earlier try may have left a log where there is none by now.
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
    // What cannot be looked at cannot be copied either: it is as good as missing.
    return 'missing';
  }
}
