import { realPath } from '../../base/paths/real-path.ts';
import { isWritable } from '../../policy/permissions/is-writable.ts';
import {
  type BoundsOptions,
  type SandboxBounds,
  type SandboxFolders,
  sandboxBounds,
} from '../../policy/permissions/sandbox-bounds.ts';
import type { SandboxPolicy } from '../../protocol/generated/types.ts';
import { realBounds } from '../../sandbox/places/real-bounds.ts';

interface ExecFolders extends SandboxFolders {
  /** The server's working directory. */
  serverCwd: string;
}

/**
 * The bounds of a client's command in a sandbox. Its working directory can be read. It is a
 * writable root only if the policy lets commands write there that run in the server's working
 * directory. Choosing a folder in a request does not widen the workspace. Returns null if the
 * policy has no bounds.
 */
export function execBounds(
  policy: SandboxPolicy,
  { serverCwd, ...folders }: ExecFolders,
  options: BoundsOptions,
): SandboxBounds | null {
  const bounds = sandboxBounds(policy, folders, options);
  const workspace = sandboxBounds(policy, { ...folders, cwd: serverCwd }, options);
  if (bounds === null || workspace === null) return null;
  const real = realPath(folders.cwd);
  const isInWorkspace = real !== null && isWritable(real, realBounds(workspace).bounds);
  // The real path is the root: if a link in the named path leads elsewhere in the meantime, that
  // place is not writable.
  const ownRoot = isInWorkspace ? [real] : [];
  // Files that are hidden in the workspace are hidden wherever the command runs.
  const hidden = bounds.hidden && { hidden: [...bounds.hidden, ...(workspace.hidden ?? [])] };
  return {
    ...bounds,
    ...hidden,
    writableRoots: bounds.writableRoots.flatMap((root) =>
      root === folders.cwd ? ownRoot : [root],
    ),
  };
}
