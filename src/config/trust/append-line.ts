import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { openForAppendingSync } from '../../base/files/open-new-file.ts';

/**
 * Appends a line to a text file, or several that are joined, and waits until they are on the disk.
 * Makes the file with mode 0600 if there is none. Lines that other processes append at the same
 * time are kept; there may then be an empty line between them. Throws if it cannot write
 * everything, and then removes the part that it wrote. Also throws if the file would become larger
 * than `bytesMax`, because its readers would refuse it.
 */
export function appendLine(path: string, line: string, bytesMax: number): void {
  const file = openForAppendingSync(path, 0o600, { reads: true });
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new Error(`${path} is not a regular file`);
    append(file, { line: `${line}\n`, size: stat.size, bytesMax });
  } finally {
    closeSync(file);
  }
  syncFolder(dirname(path));
}

/** Writes once: with O_APPEND the system puts it at the current end of the file. */
function append(
  file: number,
  { line, size, bytesMax }: { line: string; size: number; bytesMax: number },
): void {
  const bytes = Buffer.from(endsLine(file, size) ? line : `\n${line}`);
  if (size + bytes.length > bytesMax)
    throw new Error(`the file would be larger than ${bytesMax} bytes`);
  const written = writeSync(file, bytes);
  if (written < bytes.length) {
    // Readers refuse a file with an incomplete line.
    if (fstatSync(file).size === size + written) ftruncateSync(file, size);
    throw new Error('no space left to write all of it');
  }
  fsyncSync(file);
}

function endsLine(file: number, size: number): boolean {
  const last = Buffer.alloc(1);
  return size === 0 || (readSync(file, last, 0, 1, size - 1) === 1 && last.toString() === '\n');
}

/** Makes the name of a new file durable. */
function syncFolder(path: string): void {
  const folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
