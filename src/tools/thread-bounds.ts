import type { Env } from '../base/env.ts';
import { type GrantedPermissions, type SandboxBounds, sandboxBounds } from '../policy/permissions/sandbox-bounds.ts';
import { sandboxFolders } from './sandbox-folders.ts';
import type { CallContext } from './tool.ts';

/**
 * The bounds of a thread's sandbox: what its sandbox policy allows, plus what users have granted and `more`. Returns null if the
 * policy has no bounds.
 */
export function threadBounds(
  { settings, grants }: CallContext,
  server: { home: string; env: Env },
  more: readonly GrantedPermissions[] = [],
): SandboxBounds | null {
  return sandboxBounds(settings.sandboxPolicy, sandboxFolders(settings, server), [...grants.permissions, ...more]);
}
