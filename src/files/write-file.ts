import { stat } from 'node:fs/promises';
import { fileFailed } from '../protocol/rpc-error.ts';
import { isADirectory, notAFile } from './file-failure.ts';
import { locateFile, pathOf } from './file-location.ts';
import { FileChangedError, type NewContents, replaceFile } from './replace-file.ts';

/**
 * Makes a file or gives it new contents, as `replaceFile` does, and waits until they are on disk. Follows links, also one to a
 * file that does not exist yet. The file keeps its permissions if `mode` is null. Rejects with the system's error, and with the
 * client's error for a folder or another irregular file, without waiting for it.
 */
export async function writeFile(path: string, fill: NewContents['fill'], mode: number | null = null): Promise<void> {
  const location = await locateFile(path);
  const { found } = location;
  // A link that leads to no end: rejects with ELOOP.
  if (found?.isSymbolicLink()) await stat(path);
  if (found?.isDirectory()) throw isADirectory(path);
  if (found !== null && !found.isFile()) throw notAFile(path);
  const contents: NewContents = {
    async fill(file) {
      const length = await fill(file);
      await file.datasync();
      return length;
    },
    mode: mode ?? (found === null ? null : Number(found.mode)),
    before: null,
  };
  try {
    await replaceFile(pathOf(location), found, contents);
  } catch (error) {
    if (error instanceof FileChangedError) throw fileFailed('file_failed', error.message, path);
    throw error;
  }
}
