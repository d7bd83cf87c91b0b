import { resolve } from 'node:path';
import type { JsonObject } from '../../base/json-value.ts';
import type { Config } from '../../config/config.ts';
import { configuredSandboxPolicy } from '../../config/configured-sandbox-policy.ts';
import { completeSandboxPolicy } from '../../policy/permissions/complete-sandbox-policy.ts';
import { defaultPermissionProfile, permissionProfile, permissionProfileIds } from '../../policy/permissions/permission-profile.ts';
import type { SandboxMode, TurnStartParams } from '../../protocol/generated/types.ts';
import type { ThreadSettings } from '../../store/thread-store.ts';

type ThreadSandbox = Required<Pick<ThreadSettings, 'sandboxPolicy' | 'permissionProfile' | 'workspaceRoots'>>;

/** What a request can say about a thread's bounds. Null and absent are the same. */
export interface SandboxOverrides {
  permissions?: string | null | undefined;
  runtimeWorkspaceRoots?: readonly string[] | null | undefined;
  sandbox?: SandboxMode | null | undefined;
}

export interface SandboxSources {
  overrides: SandboxOverrides;
  /** The request's own settings over config.toml. */
  requested: JsonObject;
  /** What the thread keeps of what it last ran with. */
  last: Partial<ThreadSettings>;
  config: Config;
}

/**
 * The bounds of a thread: what the request says, else what is kept, else what the configuration says. Of a thread that is not
 * loaded only the profile's id is kept: what it means is for the configuration to say.
 */
export function threadSandbox({ overrides, requested, last, config }: SandboxSources): ThreadSandbox {
  const workspaceRoots = overrides.runtimeWorkspaceRoots?.map((root) => resolve(root)) ?? last.workspaceRoots ?? [];
  const of = (sandbox: Pick<ThreadSandbox, 'sandboxPolicy' | 'permissionProfile'>) => ({ ...sandbox, workspaceRoots });
  if (overrides.permissions) return of(permissionProfile(config, overrides.permissions));
  if (overrides.sandbox) return of({ sandboxPolicy: configuredSandboxPolicy(config, overrides.sandbox), permissionProfile: null });
  const isConfigured = Object.hasOwn(requested, 'sandbox_mode') || Object.hasOwn(requested, 'default_permissions');
  const kept = last.permissionProfile ?? null;
  if (!isConfigured) {
    if (last.sandboxPolicy !== undefined) return of({ sandboxPolicy: last.sandboxPolicy, permissionProfile: kept });
    if (kept !== null && permissionProfileIds(config).includes(kept.id)) return of(permissionProfile(config, kept.id));
  }
  return of(defaultPermissionProfile(config) ?? { sandboxPolicy: configuredSandboxPolicy(config), permissionProfile: null });
}

/** The bounds with what a turn changes of them. */
export function turnSandbox(
  settings: ThreadSettings,
  params: Pick<TurnStartParams, 'permissions' | 'sandboxPolicy' | 'runtimeWorkspaceRoots'>,
  config: Config,
): Partial<ThreadSandbox> {
  const roots = params.runtimeWorkspaceRoots ? { workspaceRoots: params.runtimeWorkspaceRoots.map((root) => resolve(root)) } : {};
  if (params.permissions) return { ...roots, ...permissionProfile(config, params.permissions) };
  if (!params.sandboxPolicy) return roots;
  const policy = completeSandboxPolicy(params.sandboxPolicy);
  return { ...roots, sandboxPolicy: policy, ...(settings.permissionProfile === undefined ? {} : { permissionProfile: null }) };
}
