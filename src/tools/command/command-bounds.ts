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
import { realPermissions } from '../wanted-permissions.ts';
import type { PreparedCommand } from './command-run.ts';

type OfThread = Pick<PreparedCommand, 'context' | 'services'>;

/**
 * The bounds of a sandboxed command: what the sandbox policy allows, plus the grants. `permissions`
 * apply to this run only; a path in them that now resolves to another place than when it was asked
 * for is dropped. Returns null if the policy has no bounds.
 */
export function commandBounds(
  { context, services }: OfThread,
  permissions: GrantedPermissions | null,
): SandboxBounds | null {
  const granted = permissions === null ? [] : [unchanged(permissions, context.settings.cwd)];
  const { machine, settings } = services;
  const network = settings.network(context.settings);
  return threadBounds(context, machine, {
    granted,
    unixSockets: settings.unixSockets(context.settings),
    managesNetwork: network !== null,
    hostLoopback: hostLoopback(network),
    unprotected: settings.unprotected,
    profileFiles: settings.profileFiles,
  });
}

/**
 * The bounds of a command that may only read: grants do not widen them. Returns null if the policy
 * has no bounds.
 */
export function readOnlyBounds({ context, services }: OfThread): SandboxBounds | null {
  return sandboxBounds(
    readingOnly(context.settings.sandboxPolicy),
    sandboxFolders(context.settings, services.machine),
  );
}

/**
 * The permissions that a command asks for. Returns null if it needs none beyond its sandbox, or has
 * no sandbox.
 */
export function permissionsBeyond(
  thread: OfThread,
  asked: GrantedPermissions | null,
): GrantedPermissions | null {
  if (asked === null) return null;
  const named = commandBounds(thread, null);
  if (named === null) return null;
  const { bounds } = realBounds(named);
  const isCovered =
    asked.read.every((path) => isReadable(resolveLinks(path), bounds)) &&
    asked.write.every((path) => isWritable(resolveLinks(path), bounds)) &&
    (bounds.network || bounds.managedNetwork === true || !asked.network);
  return isCovered ? null : asked;
}

/** The folders in which commands of the thread may have created programs. */
export function reachedRoots(thread: OfThread): string[] {
  const { settings } = thread.context;
  return [
    settings.cwd,
    ...(settings.workspaceRoots ?? []),
    ...(commandBounds(thread, null)?.writableRoots ?? []),
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
