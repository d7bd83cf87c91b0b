import { isReadable } from '../../policy/permissions/is-writable.ts';
import type { PatchBounds } from '../../policy/permissions/judge-patch.ts';
import type { SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import { realBounds } from '../../sandbox/places/real-bounds.ts';

/** The bounds of a sandbox for judging patches. */
export interface ResolvedBounds extends PatchBounds {
  /** Whether the file at a real path may be read. */
  mayRead: (real: string) => boolean;
}

/** Resolves the links in the roots. */
export function resolvePatchBounds(bounds: SandboxBounds): ResolvedBounds {
  const real = realBounds(bounds).bounds;
  return { named: bounds, real, mayRead: (path) => isReadable(path, real) };
}
