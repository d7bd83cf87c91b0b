import type { Writable } from 'node:stream';
import { AppendedFile } from '../../base/files/appended-file.ts';

/** The maximum number of bytes of the log that wait for their reader. */
const BACKLOG_BYTES_MAX = 1024 * 1024;

/**
 * Writes to a stream. Many clients never read stderr, or close it. Lines are then dropped, so that
 * the server does not block.
 */
export function logToStream(stream: Writable): (line: string) => void {
  stream.on('error', () => {});
  return (line) => {
    if (stream.writableLength < BACKLOG_BYTES_MAX) stream.write(line);
  };
}

/**
 * Appends to a file that only its user can read, and that may be moved away meanwhile. Throws if
 * the file cannot be opened. Lines that cannot be written later are dropped.
 */
export function logToFile(path: string): (line: string) => void {
  const file = new AppendedFile(path);
  return (line) => {
    try {
      file.append(line);
    } catch {
      // A full disk must not stop the server, and there is no other place to report it.
    }
  };
}
