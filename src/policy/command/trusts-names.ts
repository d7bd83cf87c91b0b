import { isAbsolute } from 'node:path';
import { isWithin } from '../../base/is-within.ts';

/** Variables that decide, beside `PATH`, what a shell takes a program's name for: folders and files that it reads first. */
const SHELL_PLACES = ['HOME', 'BASH_ENV', 'ENV', 'ZDOTDIR'];

/**
 * Whether the names of programs mean what the user has installed, and not what lies in the workspace, or where commands can
 * write. `roots`: those folders. `resolveLinks` follows the links of an absolute path.
 */
export function trustsNames(
  env: Readonly<Record<string, string | undefined>>,
  roots: readonly string[],
  resolveLinks: (path: string) => string,
): boolean {
  const real = roots.map(resolveLinks);
  const places = [...(env.PATH ?? '').split(':'), ...SHELL_PLACES.flatMap((name) => env[name] ?? [])];
  return places.every((place) => isAbsolute(place) && !real.some((root) => isWithin(resolveLinks(place), root)));
}
