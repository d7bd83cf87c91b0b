import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolderSync } from '../../base/paths/make-folder.ts';

/** Causes by error code, in words that suggest a remedy. */
const REASONS: Record<string, string> = {
  EACCES: 'permission denied',
  EEXIST: 'a file is in place of the folder',
  EISDIR: 'a folder is in place of the file',
  ENOENT: 'the system allows no new folder there; choose another folder with --out',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
};

/**
 * Writes files, given by their paths in a folder. Creates missing folders. Does not touch other
 * files. Throws an error that names the path and says why it cannot be written.
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
