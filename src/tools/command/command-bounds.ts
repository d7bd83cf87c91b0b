import { resolveLinks } from '../../base/paths/follow-path.ts';
import { hostLoopback } from '../../policy/network/host-loopback.ts';
import { readingOnly } from '../../policy/permissions/complete-sandbox-policy.ts';
import { isReadable, isWritable } from '../../policy/permissions/is-writable.ts';
import {
  type GrantedPermissions,
  type SandboxBounds,
  sandboxBounds,
} from '../../policy/permissions/sandbox-bounds.ts';
import { realBounds } from '../../sandbox/places/real-bounds.ts';
import { sandboxFolders } from '../sandbox-folders.ts';
import { threadBounds } from '../thread-bounds.ts';
import type { CallContext } from '../tool.ts';
import { realPermissions } from '../wanted-permissions.ts';
import type { CommandDeps } from './command-deps.ts';

interface CommandBoundsDeps {
  context: CallContext;
  deps: CommandDeps;
}

/**
 * The bounds of a sandboxed command: what the sandbox policy allows, plus the grants. `permissions`
 * apply to this run only; a path in them that now resolves to another place than when it was asked
 * for is dropped. Returns null if the policy has no bounds.
 */
export function commandBounds(
  { context, deps }: CommandBoundsDeps,
  permissions: GrantedPermissions | null,
): SandboxBounds | null {
  const granted = permissions === null ? [] : [unchanged(permissions, context.settings.cwd)];
  const { settings } = context;
  const network = deps.settings.network(settings);
  return threadBounds(context, deps.machine, {
    granted,
    unixSockets: deps.settings.unixSockets(settings),
    managesNetwork: network !== null,
    hostLoopback: hostLoopback(network),
    unprotected: deps.settings.unprotected,
    profileFiles: deps.settings.profileFiles,
  });
}

/**
 * The bounds of a command that may only read: grants do not widen them. Returns null if the policy
 * has no bounds.
 */
export function readOnlyBounds({ context, deps }: CommandBoundsDeps): SandboxBounds | null {
  return sandboxBounds(
    readingOnly(context.settings.sandboxPolicy),
    sandboxFolders(context.settings, deps.machine),
  );
}

/**
 * The permissions that a command asks for. Returns null if it needs none beyond its sandbox, or has
 * no sandbox.
 */
export function permissionsBeyond(
  deps: CommandBoundsDeps,
  asked: GrantedPermissions | null,
): GrantedPermissions | null {
  if (asked === null) return null;
  const named = commandBounds(deps, null);
  if (named === null) return null;
  const { bounds } = realBounds(named);
  const isCovered =
    asked.read.every((path) => isReadable(resolveLinks(path), bounds)) &&
    asked.write.every((path) => isWritable(resolveLinks(path), bounds)) &&
    (bounds.network || bounds.managedNetwork === true || !asked.network);
  return isCovered ? null : asked;
}

/** The folders in which commands of the thread may have created programs. */
export function reachedRoots(deps: CommandBoundsDeps): string[] {
  const { settings } = deps.context;
  return [
    settings.cwd,
    ...(settings.workspaceRoots ?? []),
    ...(commandBounds(deps, null)?.writableRoots ?? []),
  ];
}

/** Leaves out the paths that now lead elsewhere. */
function unchanged({ read, write, network }: GrantedPermissions, cwd: string): GrantedPermissions {
  const now = realPermissions({ read, write, network }, cwd);
  return {
    read: read.filter((path) => now.read.includes(path)),
    write: write.filter((path) => now.write.includes(path)),
    network,
  };
}
