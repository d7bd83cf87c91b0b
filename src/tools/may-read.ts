import { isReadable } from '../policy/permissions/is-writable.ts';
import type { SandboxBounds } from '../policy/permissions/sandbox-bounds.ts';
import { realBounds } from '../sandbox/places/real-bounds.ts';

/**
 * Whether a file may be read for a model whose commands have these bounds. `real` is a path without links. Only files in folders
 * that the bounds name may be read, although commands can also read the system files that programs need.
 */
export function mayRead(bounds: SandboxBounds | null, real: string): boolean {
  return bounds === null || isReadable(real, realBounds(bounds).bounds);
}
