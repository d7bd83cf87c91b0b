import { isAbsolute } from 'node:path';
import { isWithin } from '../../base/paths/is-within.ts';

/**
 * Variables besides `PATH` that can change the meaning of a program's name: the shell reads files
 * at these paths first.
 */
const SHELL_PATH_VARIABLES = ['HOME', 'BASH_ENV', 'ENV', 'ZDOTDIR'];

/**
 * Whether program names can only mean programs that the user installed, and not files in the
 * workspace or in folders that commands can write. `roots` are those folders. `resolveLinks`
 * resolves the links of an absolute path.
 */
export function trustsNames(
  env: Readonly<Record<string, string | undefined>>,
  roots: readonly string[],
  resolveLinks: (path: string) => string,
): boolean {
  const real = roots.map(resolveLinks);
  const paths = [
    ...(env.PATH ?? '').split(':'),
    ...SHELL_PATH_VARIABLES.flatMap((name) => env[name] ?? []),
  ];
  return paths.every(
    (path) => isAbsolute(path) && !real.some((root) => isWithin(resolveLinks(path), root)),
  );
}
