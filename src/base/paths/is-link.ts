import { statOf } from './stat-of.ts';

/** Whether a symbolic link is at the path. False if the path cannot be examined. */
export function isLink(path: string): boolean {
  return statOf(path)?.isSymbolicLink() === true;
}
