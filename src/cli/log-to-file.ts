import { openSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { makeOpenFilePrivate } from '../base/make-private.ts';

/** How much of the log may wait for its reader. */
const BACKLOG_BYTES_MAX = 1024 * 1024;

/** Many clients never read stderr, or close it: neither may hold up or end the server, so then lines are left out. */
export function logToStream(stream: Writable): (line: string) => void {
  stream.on('error', () => {});
  return (line) => {
    if (stream.writableLength < BACKLOG_BYTES_MAX) stream.write(line);
  };
}

/** Appends to a file for its user alone. Throws when it cannot be opened; what cannot be written later is left out. */
export function logToFile(file: string): (line: string) => void {
  const descriptor = openSync(file, 'a', 0o600);
  makeOpenFilePrivate(descriptor);
  return (line) => {
    try {
      writeSync(descriptor, line);
    } catch {
      // A full disk must not stop the server, and there is nobody else to tell.
    }
  };
}
