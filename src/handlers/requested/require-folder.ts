import { isAbsolute } from 'node:path';
import { isFolder } from '../../base/paths/is-folder.ts';
import { folderNotFound } from '../../protocol/rpc-error.ts';

/**
 * Throws if a request names a working directory that does not exist, or that is no folder. A thread
 * whose folder is gone can still be read, resumed and forked, so requests that only pass on the
 * folder of a thread do not call this. A relative path is left to the thread, which has a folder to
 * resolve it in.
 */
export function requireFolder(cwd: string | null | undefined): void {
  if (cwd == null || !isAbsolute(cwd) || isFolder(cwd)) return;
  throw folderNotFound(cwd);
}
