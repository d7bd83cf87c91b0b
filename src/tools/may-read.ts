import { realPath } from '../config/project-folders.ts';
import { isReadable } from '../policy/path-bounds.ts';
import type { SandboxBounds } from '../policy/sandbox-bounds.ts';

/**
 * Whether a file may be read for a model whose commands have these bounds; `real` has no links in it. What is not in a folder
 * that the bounds name is not, though commands may also reach what programs commonly need.
 */
export function mayRead(bounds: SandboxBounds | null, real: string): boolean {
  if (bounds === null) return true;
  const { readable, writableRoots, workspace, home } = bounds;
  return isReadable(real, {
    readable: readable === 'everything' ? readable : { ...readable, roots: readable.roots.map(realPath) },
    writableRoots: writableRoots.map(realPath),
    workspace: workspace.map(realPath),
    home: realPath(home),
  });
}
