import { chmodSync, fchmodSync, fstatSync, lstatSync, type Stats } from 'node:fs';
import { hasErrorCode } from '../system-error-code.ts';

const FOR_OTHERS = 0o077;
const FOR_OWNER = 0o700;

/**
 * Removes all permissions of group and others from one of heddle's files or folders. Does nothing
 * for links and missing files.
 */
export function makePrivate(path: string): void {
  // Does not open the file: closing a database file would release the locks that this process holds
  // on it.
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats !== undefined && isOpenToOthers(stats))
    unlessNotOurs(() => chmodSync(path, stats.mode & FOR_OWNER));
}

/** The same for an open file. Does nothing for pipes and devices. */
export function makeOpenFilePrivate(descriptor: number): void {
  const stats = fstatSync(descriptor);
  if (isOpenToOthers(stats)) unlessNotOurs(() => fchmodSync(descriptor, stats.mode & FOR_OWNER));
}

function isOpenToOthers(stats: Stats): boolean {
  return (stats.isFile() || stats.isDirectory()) && (stats.mode & FOR_OTHERS) !== 0;
}

/**
 * Makes the change, unless the file belongs to another user or the file system has no permissions.
 * The file is then used as it is.
 */
function unlessNotOurs(change: () => void): void {
  try {
    change();
  } catch (error) {
    if (!hasErrorCode(error, ['EPERM', 'EACCES', 'EROFS', 'ENOTSUP'])) throw error;
  }
}
