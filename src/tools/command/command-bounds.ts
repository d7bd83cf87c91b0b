import { resolveLinks } from '../../base/follow-path.ts';
import { readingOnly } from '../../policy/permissions/complete-sandbox-policy.ts';
import { isReadable, isWritable } from '../../policy/permissions/is-writable.ts';
import { type GrantedPermissions, type SandboxBounds, sandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import { realBounds } from '../../sandbox/places/real-bounds.ts';
import { sandboxFolders } from '../sandbox-folders.ts';
import type { CallContext } from '../tool.ts';
import { realPermissions } from '../wanted-permissions.ts';
import type { CommandDeps } from './command-deps.ts';

interface CommandBoundsDeps {
  context: CallContext;
  deps: CommandDeps;
}

/**
 * What a sandboxed command may do: what the sandbox policy allows, and what has been granted. `permissions` are for this run
 * alone; of those, what leads elsewhere by now than when they were asked for is left out. Null: the policy has no bounds.
 */
export function commandBounds({ context, deps }: CommandBoundsDeps, permissions: GrantedPermissions | null): SandboxBounds | null {
  const { settings, grants } = context;
  const granted = [...grants.permissions, ...(permissions === null ? [] : [asAskedFor(permissions, settings.cwd)])];
  return sandboxBounds(settings.sandboxPolicy, sandboxFolders(settings, deps), granted);
}

/** What a command may do that is only let to look: nothing that was granted widens it. */
export function readOnlyBounds({ context, deps }: CommandBoundsDeps): SandboxBounds | null {
  return sandboxBounds(readingOnly(context.settings.sandboxPolicy), sandboxFolders(context.settings, deps));
}

/** What a command asks for; null where its sandbox allows that already. */
export function permissionsBeyond(deps: CommandBoundsDeps, asked: GrantedPermissions | null): GrantedPermissions | null {
  if (asked === null) return null;
  const named = commandBounds(deps, null);
  if (named === null) return null;
  const { bounds } = realBounds(named);
  const isCovered =
    asked.read.every((path) => isReadable(resolveLinks(path), bounds)) &&
    asked.write.every((path) => isWritable(resolveLinks(path), bounds)) &&
    (bounds.network || !asked.network);
  return isCovered ? null : asked;
}

/** Where commands of the thread may have put something, and where this one runs. */
export function reachedRoots(deps: CommandBoundsDeps, cwd: string): string[] {
  const { settings } = deps.context;
  return [cwd, settings.cwd, ...(settings.workspaceRoots ?? []), ...(commandBounds(deps, null)?.writableRoots ?? [])];
}

function asAskedFor({ read, write, network }: GrantedPermissions, cwd: string): GrantedPermissions {
  const now = realPermissions({ read, write, network }, cwd);
  return { read: read.filter((path) => now.read.includes(path)), write: write.filter((path) => now.write.includes(path)), network };
}
