import { accessSync, constants } from 'node:fs';
import { isFolder } from './is-folder.ts';

/**
 * Whether something other than a folder is at a path, also through links, and this user has the
 * rights of `mode` there.
 */
export function isFile(path: string, mode = constants.F_OK): boolean {
  try {
    accessSync(path, mode);
    return !isFolder(path);
  } catch {
    return false;
  }
}
