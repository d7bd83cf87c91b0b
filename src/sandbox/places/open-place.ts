import { closeSync, constants, openSync } from 'node:fs';
import { O_PATH } from '../../base/files/o-path.ts';
import { linkTarget } from '../../base/paths/link-target.ts';
import { unlessUnseen } from '../../base/paths/stat-of.ts';

/**
 * Opens a file or folder as a handle. Returns null if nothing is there, or if the path, which must be real, now contains a link:
 * the handle is that of the path that was meant, or there is none. The caller closes it.
 */
export function openPlace(path: string): number | null {
  const handle = unlessUnseen(() => openSync(path, O_PATH | constants.O_NOFOLLOW));
  if (handle === null) return null;
  if (linkTarget(`/proc/self/fd/${handle}`) === path) return handle;
  closeSync(handle);
  return null;
}
