import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolderSync } from '../../base/make-folder.ts';

/** The causes that the user can do something about, by the system's codes. */
const REASONS: Record<string, string> = {
  EACCES: 'permission denied',
  EEXIST: 'a file is in the place of the folder',
  EISDIR: 'a folder is in the place of the file',
  ENOENT: 'the system allows no new folder there; choose another folder with --out',
  ENOTDIR: 'a file is in the place of a folder on the way to it',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
};

/**
 * Writes files, given by their paths in a folder, which is made if it is missing. Leaves files of other names alone. Throws an
 * error that names the path and says why it cannot be written.
 */
export function writeFiles(folder: string, files: ReadonlyMap<string, string>): void {
  for (const [path, text] of files) {
    const file = join(folder, path);
    try {
      makeFolderSync(dirname(file));
      writeFileSync(file, text);
    } catch (error) {
      const { code = '', path: failed = file, message } = error as NodeJS.ErrnoException;
      throw new Error(`cannot write ${failed}: ${REASONS[code] ?? message}`, { cause: error });
    }
  }
}
