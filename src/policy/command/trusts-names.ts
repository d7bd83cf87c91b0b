import { isAbsolute } from 'node:path';
import { isWithin } from '../../base/is-within.ts';

/** Variables that decide, beside `PATH`, what a shell takes a program's name for: folders and files that it reads first. */
const SHELL_PATH_VARIABLES = ['HOME', 'BASH_ENV', 'ENV', 'ZDOTDIR'];

/**
 * Whether the names of programs mean what the user has installed, and not what lies in the workspace, or where commands can
 * write. `roots`: those folders. `realPath` follows the links of an absolute path.
 */
export function trustsNames(
  env: Readonly<Record<string, string | undefined>>,
  roots: readonly string[],
  realPath: (path: string) => string,
): boolean {
  const real = roots.map(realPath);
  const paths = [...(env.PATH ?? '').split(':'), ...SHELL_PATH_VARIABLES.flatMap((name) => env[name] ?? [])];
  return paths.every((path) => isAbsolute(path) && !real.some((root) => isWithin(realPath(path), root)));
}
