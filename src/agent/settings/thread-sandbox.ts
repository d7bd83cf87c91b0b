import { resolve } from 'node:path';
import type { JsonObject } from '../../base/json-value.ts';
import type { Config } from '../../config/config.ts';
import { configuredSandboxPolicy } from '../../config/configured-sandbox-policy.ts';
import { completeSandboxPolicy } from '../../policy/permissions/complete-sandbox-policy.ts';
import {
  defaultPermissionProfile,
  isPermissionProfile,
  permissionProfile,
} from '../../policy/permissions/permission-profile.ts';
import { withRequiredHidden } from '../../policy/permissions/required/required-hidden.ts';
import type { SandboxMode, TurnStartParams } from '../../protocol/generated/types.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';

/** The settings of a thread that are its sandbox. */
export type ThreadSandbox = Required<
  Pick<ThreadSettings, 'sandboxPolicy' | 'permissionProfile' | 'workspaceRoots'>
> &
  Pick<ThreadSettings, 'limits' | 'hidden'>;

/** The sandbox settings that a request can give. Null and absent are the same. */
export interface SandboxOverrides {
  permissions?: string | null | undefined;
  runtimeWorkspaceRoots?: readonly string[] | null | undefined;
  sandbox?: SandboxMode | null | undefined;
}

export interface SandboxSources {
  overrides: SandboxOverrides;
  /** The request's settings that override config.toml. */
  requested: JsonObject;
  /** The settings that the thread keeps from its last turn. */
  last: Partial<ThreadSettings>;
  config: Config;
}

/**
 * The sandbox of a thread: from the request, else from the kept settings, else from the
 * configuration. It hides the administrator's files in addition. If a permission profile was kept
 * without its sandbox policy, the configuration defines the profile.
 */
export function threadSandbox(sources: SandboxSources): ThreadSandbox {
  return withRequiredHidden(chosenSandbox(sources), sources.config);
}

function chosenSandbox({ overrides, requested, last, config }: SandboxSources): ThreadSandbox {
  const workspaceRoots = normalRoots(overrides.runtimeWorkspaceRoots ?? last.workspaceRoots ?? []);
  const withRoots = (
    sandbox: Pick<ThreadSandbox, 'sandboxPolicy' | 'permissionProfile' | 'hidden'>,
  ) => ({ ...sandbox, workspaceRoots });
  if (overrides.permissions) return withRoots(permissionProfile(config, overrides.permissions));
  if (overrides.sandbox)
    return withRoots({
      sandboxPolicy: configuredSandboxPolicy(config, overrides.sandbox),
      permissionProfile: null,
    });
  const isConfigured =
    Object.hasOwn(requested, 'sandbox_mode') || Object.hasOwn(requested, 'default_permissions');
  const kept = last.permissionProfile ?? null;
  if (!isConfigured) {
    const { sandboxPolicy, limits = null, hidden = null } = last;
    if (sandboxPolicy !== undefined)
      return {
        ...withRoots({ sandboxPolicy, permissionProfile: kept }),
        ...(limits && { limits }),
        ...(hidden && { hidden }),
      };
    if (kept !== null && isPermissionProfile(config, kept.id))
      return withRoots(permissionProfile(config, kept.id));
  }
  return withRoots(
    defaultPermissionProfile(config) ?? {
      sandboxPolicy: configuredSandboxPolicy(config),
      permissionProfile: null,
    },
  );
}

/** The sandbox settings that a turn changes. What the client chooses has only its own limits. */
export function turnSandbox(
  settings: ThreadSettings,
  params: Pick<TurnStartParams, 'permissions' | 'sandboxPolicy' | 'runtimeWorkspaceRoots'>,
  config: Config,
): Partial<ThreadSandbox> {
  const roots = params.runtimeWorkspaceRoots
    ? { workspaceRoots: normalRoots(params.runtimeWorkspaceRoots) }
    : {};
  const limits = {
    ...(settings.limits && { limits: null }),
    ...(settings.hidden && { hidden: null }),
  };
  if (params.permissions)
    return withRequiredHidden(
      { ...roots, ...limits, ...permissionProfile(config, params.permissions) },
      config,
    );
  if (!params.sandboxPolicy) return roots;
  const policy = completeSandboxPolicy(params.sandboxPolicy);
  const profile = settings.permissionProfile === undefined ? {} : { permissionProfile: null };
  return withRequiredHidden({ ...roots, ...limits, sandboxPolicy: policy, ...profile }, config);
}

/**
 * The roots of a workspace, without `.`, `..` and slashes at the end, each once, in their order.
 * Links stay: they may lead elsewhere later.
 */
function normalRoots(roots: readonly string[]): string[] {
  return [...new Set(roots.map((root) => resolve(root)))];
}
