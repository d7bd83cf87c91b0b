import { resolveLinks } from '../../base/paths/follow-path.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import type { SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import type { KnownFile } from '../server-programs/server-programs.ts';

/** How a path is protected that no program of the server runs: a predicate for it. */
export const PROTECTED = 'is protected by the sandbox';

/**
 * Says which program the server runs with the file at a real path, outside the sandbox: a predicate
 * for the path. Null: none.
 */
export function protectedAs(
  path: string,
  { bounds, programFiles }: { bounds: SandboxBounds; programFiles: readonly KnownFile[] },
): string | null {
  const roots = bounds.writableRoots.map(resolveLinks);
  const left = [...bounds.unprotected.map(resolveLinks), ...roots.filter((root) => root === path)];
  if (left.some((folder) => isWithin(path, folder))) return null;
  // A folder that contains a root does not make the root read-only.
  const inFolder = ({ end }: KnownFile) =>
    isWithin(path, end) && !roots.some((root) => isWithin(root, end));
  const file =
    programFiles.find(({ end, links }) => end === path || links.includes(path)) ??
    programFiles.find(inFolder);
  return file === undefined ? null : `${PROTECTED}: ${file.of} runs it outside the sandbox`;
}
