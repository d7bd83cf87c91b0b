import { stat } from 'node:fs/promises';
import { fileFailed } from '../protocol/errors/file-errors.ts';
import { isADirectory, notAFile } from './file-failure.ts';
import { type FileLocation, locateFile, pathOf } from './file-location.ts';
import { FileChangedError, type NewContents, replaceFile } from './replace-file.ts';

/** How often a file is looked at again because another one has taken its place. */
const TRIES_MAX = 3;

/**
 * Creates a file or replaces its contents, as `replaceFile` does, and waits until they are on disk.
 * Follows links, also one to a file that does not exist yet. The file keeps its permissions if
 * `mode` is null. `before`, `check`: see NewContents. Rejects with the system's error, that of
 * `check`, and with the client's error for a folder or another irregular file, without waiting for
 * it.
 */
export async function writeFile(
  path: string,
  fill: NewContents['fill'],
  { mode = null, before = null, ...check }: Partial<Omit<NewContents, 'fill'>> = {},
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const location = await locateWritable(path);
    const kept = location.found === null ? null : Number(location.found.mode);
    try {
      return await replaceFile(pathOf(location), location.found, {
        fill: ontoDisk(fill),
        mode: mode ?? kept,
        before,
        ...check,
      });
    } catch (error) {
      if (!(error instanceof FileChangedError)) throw error;
      // Opening a file of an overlay for writing can also give it another inode, once.
      if (tries === TRIES_MAX) throw fileFailed('file_failed', error.message, path);
    }
  }
}

async function locateWritable(path: string): Promise<FileLocation> {
  const location = await locateFile(path);
  const { found } = location;
  // A link that leads to no end: rejects with ELOOP.
  if (found?.isSymbolicLink()) await stat(path);
  if (found?.isDirectory()) throw isADirectory(path);
  if (found !== null && !found.isFile()) throw notAFile(path);
  return location;
}

function ontoDisk(fill: NewContents['fill']): NewContents['fill'] {
  return async (file) => {
    const length = await fill(file);
    await file.datasync();
    return length;
  };
}
