import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';

/**
 * Appends a line to a file, or several that are joined, and waits until they are on disk. Lines that other processes append at the
 * same time are kept; there may then be an empty line between them. Creates the file for its user only. Throws if not everything
 * can be written, and then removes what it wrote.
 */
export function appendLine(path: string, line: string): void {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o600);
  try {
    append(file, `${line}\n`);
  } finally {
    closeSync(file);
  }
}

/** Writes once: with O_APPEND the system puts it at the current end of the file. */
function append(file: number, line: string): void {
  const { size } = fstatSync(file);
  const bytes = Buffer.from(endsLine(file, size) ? line : `\n${line}`);
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
