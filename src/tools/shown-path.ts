import { join, relative } from 'node:path';
import { resolveLinks } from '../base/paths/follow-path.ts';
import { isWithin } from '../base/paths/is-within.ts';

/**
 * The path of a file in a question to the user: its real path, so that the user sees what they
 * allow. A path in the working directory stays as it is if no link below that directory leads
 * elsewhere, even if the directory itself is reached by a link.
 */
export function shownPath(path: string, cwd: string): string {
  const real = resolveLinks(path);
  return isWithin(path, cwd) && real === join(resolveLinks(cwd), relative(cwd, path)) ? path : real;
}
