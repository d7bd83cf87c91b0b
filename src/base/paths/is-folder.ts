import { statSync } from 'node:fs';
import { unlessUnseen } from './stat-of.ts';

/** Whether a folder is at the path, or a link to one. False for a path that cannot be looked at. */
export function isFolder(path: string): boolean {
  return unlessUnseen(() => statSync(path, { throwIfNoEntry: false }))?.isDirectory() === true;
}
