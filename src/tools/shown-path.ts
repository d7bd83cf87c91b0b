import { join, relative } from 'node:path';
import { resolveLinks } from '../base/follow-path.ts';
import { isWithin } from '../base/is-within.ts';

/**
 * The path that a question about a file shows: where the file really is, so that the user sees what they allow. A path in the
 * working directory stays as it is if no link below that directory leads elsewhere, even if the directory is reached by one.
 */
export function shownPath(path: string, cwd: string): string {
  const real = resolveLinks(path);
  return isWithin(path, cwd) && real === join(resolveLinks(cwd), relative(cwd, path)) ? path : real;
}
