import { closeSync, mkdtempSync, openSync, rmdirSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolderSync } from '../../base/paths/make-folder.ts';

/**
 * Creates a file with these bytes, removes its name and returns its open descriptor. Opening the
 * descriptor's path in /proc reads it from the start. No confined process may be able to write to
 * `folder`, else it could change the filter of the next one. Throws the system's error.
 */
export function makeUnnamedFile(folder: string, bytes: Buffer): number {
  makeFolderSync(folder, 0o700);
  const own = mkdtempSync(join(folder, '.sandbox-'));
  const path = join(own, 'filter');
  try {
    const writing = openSync(path, 'wx', 0o600);
    try {
      // On a full disk, a write may store a part of the bytes and tell only how many.
      for (let at = 0; at < bytes.length; ) at += writeSync(writing, bytes, at);
      return openSync(path, 'r');
    } finally {
      closeSync(writing);
      unlinkSync(path);
    }
  } finally {
    rmdirSync(own);
  }
}
