import { closeSync, fsyncSync, openSync } from 'node:fs';
import { hasErrorCode } from '../../../base/system-error-code.ts';

/** Writes a file to the disk. Throws the system's error. */
export function syncFile(path: string): void {
  sync(path, 'r+');
}

/**
 * The same for a folder. Windows cannot open one and does not need to: there a file's name is on
 * disk with the file.
 */
export function syncFolder(path: string): void {
  try {
    sync(path, 'r');
  } catch (error) {
    if (!hasErrorCode(error, ['EISDIR', 'EPERM'])) throw error;
  }
}

function sync(path: string, mode: 'r' | 'r+'): void {
  const descriptor = openSync(path, mode);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
