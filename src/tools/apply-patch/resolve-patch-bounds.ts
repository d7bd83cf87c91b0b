import type { PatchBounds } from '../../policy/permissions/judge-patch.ts';
import type { SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import { realBounds } from '../../sandbox/places/real-bounds.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { type MayRead, mayRead } from '../may-read.ts';

/** The bounds of a sandbox for judging patches. */
export interface ResolvedBounds extends PatchBounds {
  /** Whether the file at a real path may be read. */
  mayRead: MayRead;
}

/**
 * Resolves the links in the roots. Rejects with a `ProcessStartError` if there is too much to
 * protect in them.
 */
export async function resolvePatchBounds(
  bounds: SandboxBounds,
  sandbox: Pick<Sandbox, 'protects'>,
): Promise<ResolvedBounds> {
  const real = realBounds(bounds).bounds;
  return {
    named: bounds,
    real,
    protectedAs: await sandbox.protects(bounds),
    mayRead: await mayRead(bounds),
  };
}
