import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What stands in the way, in words that say what to do about it. */
const REASONS: Record<string, string> = {
  EACCES: 'permission denied',
  EEXIST: 'a file is in the place of the folder',
  EISDIR: 'a folder is in the place of the file',
  ENOTDIR: 'a file is in the place of a folder on the way to it',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
};

/**
 * Writes files, given by their paths in a folder, which is made where there is none. Files of other names are left alone.
 * Throws an error that names the path and says why it cannot be written.
 */
export function writeFiles(folder: string, files: ReadonlyMap<string, string>): void {
  for (const [path, text] of files) {
    const file = join(folder, path);
    try {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    } catch (error) {
      const { code = '', path: place = file, message } = error as NodeJS.ErrnoException;
      throw new Error(`cannot write ${place}: ${REASONS[code] ?? message}`, { cause: error });
    }
  }
}
