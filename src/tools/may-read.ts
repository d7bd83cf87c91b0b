import { isReadable } from '../policy/path-bounds.ts';
import type { SandboxBounds } from '../policy/sandbox-bounds.ts';
import { realPath } from './real-path.ts';

/**
 * Whether a file may be read for a model whose commands have these bounds; `real` has no links in it. What is not in a folder
 * that the bounds name is not, though commands may also reach what programs commonly need.
 */
export function mayRead(bounds: SandboxBounds | null, real: string): boolean {
  if (bounds === null) return true;
  return isReadable(real, realBounds(bounds));
}

/** The same bounds with the links in their paths followed. */
export function realBounds({ readable, writableRoots, network, workspace, home }: SandboxBounds): SandboxBounds {
  return {
    readable: readable === 'everything' ? readable : { ...readable, roots: readable.roots.map(realPath) },
    writableRoots: writableRoots.map(realPath),
    network,
    workspace: workspace.map(realPath),
    home: realPath(home),
  };
}
