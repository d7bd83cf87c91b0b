import { relative, sep } from 'node:path';
import { isInside, realPath } from '../config/project-folders.ts';
import type { SandboxBounds } from '../policy/sandbox-bounds.ts';

/** Files of the home that hold keys or what was said: by their names, or by how these begin. */
const SECRET = /^(auth\.json|config\.toml|history\.jsonl|heddle[.-].*)$/;

/**
 * Whether a file may be read for a model whose commands have these bounds; `real` has no links in it. What is not in a folder
 * that the bounds name is not, though commands may also reach what programs commonly need.
 */
export function mayRead(bounds: SandboxBounds | null, real: string): boolean {
  if (bounds === null) return true;
  const home = realPath(bounds.home);
  if (isInside(real, home) && SECRET.test(relative(home, real).split(sep)[0] ?? '')) return false;
  return bounds.readable === 'everything' || bounds.readable.roots.some((root) => isInside(real, realPath(root)));
}
