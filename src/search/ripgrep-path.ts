import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { requireDescriptors } from '../base/loading/require-descriptors.ts';

/**
 * The absolute path of the ripgrep that npm has installed for this platform. Null: there is none,
 * because optional dependencies were left out, or the package is not made for this platform. Throws
 * an error of the system if this process has too few file descriptors to look.
 */
export function ripgrepPath(): string | null {
  requireDescriptors();
  try {
    // The package's own module cannot be loaded with `require` by all Nodes.
    const { resolve } = createRequire(createRequire(import.meta.url).resolve('@vscode/ripgrep'));
    return resolve(`@vscode/ripgrep-${platform()}-${arch()}/bin/rg`);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return null;
    throw error;
  }
}
