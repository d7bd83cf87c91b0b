import { realpath } from 'node:fs/promises';
import type { PatchBounds } from '../../policy/judge-patch.ts';
import { isReadable } from '../../policy/path-bounds.ts';
import type { SandboxBounds } from '../../policy/sandbox-bounds.ts';

/** The bounds of a sandbox as a patch is judged by them. */
export interface ResolvedBounds extends PatchBounds {
  /** Whether the file at a path without links may be read. */
  mayRead: (real: string) => boolean;
}

/** Looks where the roots really are. Roots that do not exist stay as they are named: nothing lies below them yet. */
export async function resolvePatchBounds(bounds: SandboxBounds): Promise<ResolvedBounds> {
  const { readable, writableRoots, workspace, home } = bounds;
  const real: SandboxBounds = {
    ...bounds,
    readable: readable === 'everything' ? readable : { ...readable, roots: await resolved(readable.roots) },
    writableRoots: await resolved(writableRoots),
    workspace: await resolved(workspace),
    home: (await resolved([home]))[0] ?? home,
  };
  return { named: bounds, real, mayRead: (path) => isReadable(path, real) };
}

function resolved(roots: readonly string[]): Promise<string[]> {
  return Promise.all(roots.map((root) => realpath(root).catch(() => root)));
}
