import { isAbsolute } from 'node:path';
import type { SandboxBounds } from '../policy/permissions/sandbox-bounds.ts';
import { ProcessStartError } from './processes/processes.ts';
import type { ConfinedCommand } from './sandbox.ts';

/**
 * Throws a `ProcessStartError` unless every path is absolute and neither paths nor arguments hold a
 * NUL.
 */
export function requirePlainPaths(
  { argv, cwd }: ConfinedCommand,
  { readable, writableRoots, home }: SandboxBounds,
): void {
  const paths = [cwd, home, ...writableRoots, ...(readable === 'everything' ? [] : readable.roots)];
  const wrong =
    paths.find((path) => !isAbsolute(path)) ??
    [...paths, ...argv].find((text) => text.includes('\0'));
  if (wrong !== undefined)
    throw new ProcessStartError(
      `${JSON.stringify(wrong)} is not an absolute path, or it contains a NUL character`,
    );
}
