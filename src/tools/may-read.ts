import { isReadable } from '../policy/permissions/is-writable.ts';
import type { SandboxBounds } from '../policy/permissions/sandbox-bounds.ts';
import { realBounds } from '../sandbox/places/real-bounds.ts';

/**
 * Whether a file may be read for a model whose commands have these bounds; `real` has no links in it. What is not in a folder
 * that the bounds name is not, though commands may also reach what programs commonly need.
 */
export function mayRead(bounds: SandboxBounds | null, real: string): boolean {
  return bounds === null || isReadable(real, realBounds(bounds).bounds);
}
