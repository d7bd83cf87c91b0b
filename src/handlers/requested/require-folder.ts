import { resolve } from 'node:path';
import { isFolder } from '../../base/paths/is-folder.ts';
import { folderNotFound } from '../../protocol/rpc-error.ts';

/**
 * Throws if a working directory for new work does not exist, or is no folder. A thread whose folder
 * is gone can still be read, resumed and forked, so requests that only pass on the
 * folder of a thread do not call this. A relative path is relative to `serverCwd`.
 */
export function requireFolder(cwd: string, serverCwd: string): void {
  const folder = resolve(serverCwd, cwd);
  if (!isFolder(folder)) throw folderNotFound(folder);
}
