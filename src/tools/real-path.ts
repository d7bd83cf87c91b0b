import { join, relative } from 'node:path';
import { isWithin } from '../base/is-within.ts';
import { followPath } from '../sandbox/places/follow-path.ts';

/** Where an absolute path leads once links are followed; what does not exist, or cannot be looked at, is taken as it is named. */
export function realPath(path: string): string {
  return followPath(path).end;
}

/**
 * The path by which somebody is asked about a file, so that whoever allows it sees what is allowed: where it really leads. One
 * in the working folder without a link of its own stays as it is, also where the folder itself is reached by one.
 */
export function shownPath(path: string, cwd: string): string {
  const real = realPath(path);
  return isWithin(path, cwd) && real === join(realPath(cwd), relative(cwd, path)) ? path : real;
}
