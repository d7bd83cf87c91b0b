import { closeSync, constants, openSync } from 'node:fs';
import { O_PATH } from '../../base/files/o-path.ts';
import { linkTarget } from '../../base/paths/link-target.ts';
import { unlessUnseen } from '../../base/paths/stat-of.ts';

/**
 * Opens a file or folder as a handle. `path` must be a real path. Returns null if nothing is there,
 * or if the path contains a link now. The caller closes the handle.
 */
export function openPlace(path: string): number | null {
  const handle = unlessUnseen(() => openSync(path, O_PATH | constants.O_NOFOLLOW));
  if (handle === null) return null;
  if (linkTarget(`/proc/self/fd/${handle}`) === path) return handle;
  closeSync(handle);
  return null;
}
