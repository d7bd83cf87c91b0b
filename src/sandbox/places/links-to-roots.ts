import { join, relative } from 'node:path';
import { followPath } from '../../base/paths/follow-path.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import { realPath, realPathOrSame } from '../../base/paths/real-path.ts';
import type { SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';

/**
 * The real paths of the links that lead to the folders in which what is hidden is looked for,
 * without those to the workspace itself. If they led elsewhere, what they lead to now would be
 * seen.
 */
export function linksToRoots({
  hidden = [],
  workspace,
}: Pick<SandboxBounds, 'hidden' | 'workspace'>): string[] {
  const folders = workspace.map((folder) => ({ folder, real: realPathOrSame(folder) }));
  const named = [...new Set(hidden.map(({ root }) => root))].flatMap((root) => {
    const above = folders.filter(({ folder }) => isWithin(root, folder));
    return above.length === 0
      ? [root]
      : above.map(({ folder, real }) => join(real, relative(folder, root)));
  });
  return named
    .filter((root) => realPath(root) !== root)
    .flatMap((root) => followPath(root).links.map(({ link }) => link));
}
