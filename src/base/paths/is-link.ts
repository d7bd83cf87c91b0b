import { statOf } from './stat-of.ts';

/** Whether a symbolic link is at the path. False for a path that cannot be looked at. */
export function isLink(path: string): boolean {
  return statOf(path)?.isSymbolicLink() === true;
}
