import { lstatSync } from 'node:fs';
import { resolveLinks } from './follow-path.ts';
import { unlessUnseen } from './stat-of.ts';

/** The real path of a path, and the folder there. */
export interface PathIdentity {
  /** The path with all links resolved. A part that does not exist stays as it is named. */
  real: string;
  /** The device and inode of the folder there. Null: no folder is there. */
  folder: string | null;
}

/** Returns the current identity of an absolute path. */
export function pathIdentity(path: string): PathIdentity {
  const real = resolveLinks(path);
  const stats = unlessUnseen(() => lstatSync(real, { bigint: true }));
  return { real, folder: stats?.isDirectory() === true ? `${stats.dev}:${stats.ino}` : null };
}
