import type { Env } from '../base/env.ts';
import {
  type BoundsOptions,
  type SandboxBounds,
  sandboxBounds,
} from '../policy/permissions/sandbox-bounds.ts';
import { sandboxFolders } from './sandbox-folders.ts';
import type { CallContext } from './tool.ts';

/**
 * The bounds of a thread's sandbox: what its sandbox policy and the options allow, plus what users
 * have granted. Returns null if the policy has no bounds.
 */
export function threadBounds(
  { settings, grants }: CallContext,
  server: { home: string; env: Env },
  { granted = [], ...options }: BoundsOptions = {},
): SandboxBounds | null {
  return sandboxBounds(settings.sandboxPolicy, sandboxFolders(settings, server), {
    ...options,
    granted: [...grants.permissions, ...granted],
  });
}
