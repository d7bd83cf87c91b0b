import { chmodSync, fchmodSync, fstatSync, lstatSync, type Stats } from 'node:fs';
import { hasErrorCode } from './system-error-code.ts';

const FOR_OTHERS = 0o077;
const FOR_OWNER = 0o700;

/** Takes away what others than its owner may do with a file or a folder of ours. Links, and what is not there, stay as they are. */
export function makePrivate(path: string): void {
  // Not opened: to close a database's file would let go of the locks that this process has on it.
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats !== undefined && isOpenToOthers(stats)) unlessNotOurs(() => chmodSync(path, stats.mode & FOR_OWNER));
}

/** The same for a file that is open; pipes and devices stay as they are. */
export function makeOpenFilePrivate(descriptor: number): void {
  const stats = fstatSync(descriptor);
  if (isOpenToOthers(stats)) unlessNotOurs(() => fchmodSync(descriptor, stats.mode & FOR_OWNER));
}

function isOpenToOthers(stats: Stats): boolean {
  return (stats.isFile() || stats.isDirectory()) && (stats.mode & FOR_OTHERS) !== 0;
}

/** Only its owner can change who may read a file, and none on some file systems: then it is used as it is. */
function unlessNotOurs(change: () => void): void {
  try {
    change();
  } catch (error) {
    if (!hasErrorCode(error, ['EPERM', 'EACCES', 'EROFS', 'ENOTSUP'])) throw error;
  }
}
