import { closeSync, mkdtempSync, openSync, rmdirSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolderSync } from '../../base/make-folder.ts';

/**
 * An open file without a name that holds these bytes; `openSync` of its path in /proc gives it anew from its start. It is made in
 * a folder that no confined process can write to, or one could change what the next is confined by. Throws the system's error.
 */
export function makeUnnamedFile(folder: string, bytes: Buffer): number {
  makeFolderSync(folder, 0o700);
  const own = mkdtempSync(join(folder, '.sandbox-'));
  const path = join(own, 'filter');
  try {
    const writing = openSync(path, 'wx', 0o600);
    try {
      writeSync(writing, bytes);
      return openSync(path, 'r');
    } finally {
      closeSync(writing);
      unlinkSync(path);
    }
  } finally {
    rmdirSync(own);
  }
}
