import type { Config } from '../../config/config.ts';
import type { HiddenPattern, InheritedLimits } from '../../config/inherited-limits.ts';
import { ConfigError } from '../../config/toml/config-error.ts';
import type {
  ActivePermissionProfile,
  PermissionProfileSummary,
  SandboxPolicy,
} from '../../protocol/generated/types.ts';
import { unknownPermissionProfile } from '../../protocol/rpc-error.ts';
import { limitedNetwork } from '../network/network-limits.ts';
import type { NetworkPolicy } from '../network/network-policy.ts';
import { networkPolicyRule } from '../network/network-policy-rule.ts';
import { profileAccess } from './profile-access.ts';
import { BUILT_IN_PROFILES, type ProfileTable, readProfileTable } from './profile-table.ts';

/** The permission profile of a thread, and the sandbox policy that it results in. */
export interface ProfileSandbox {
  sandboxPolicy: SandboxPolicy;
  permissionProfile: ActivePermissionProfile;
  /** The files that it hides. Absent: none. */
  hidden?: readonly HiddenPattern[];
}

/** A sandbox policy, and the permission profile that it comes from, if any. */
export interface NamedSandbox {
  sandboxPolicy: SandboxPolicy;
  permissionProfile?: ActivePermissionProfile | null;
  /** Limits beside those of the policy and the profile. */
  limits?: InheritedLimits | null;
  /** The files that are hidden. Absent or null: none. */
  hidden?: readonly HiddenPattern[] | null;
}

/** Returns the ids of all permission profiles: the built-in ones and those of `[permissions]`. */
function permissionProfileIds(config: Config): string[] {
  return [
    ...BUILT_IN_PROFILES.keys(),
    ...config.keys(['permissions']).filter((id) => !id.startsWith(':')),
  ];
}

/** Whether there is a permission profile of this id: a built-in one, or one of `[permissions]`. */
export function isPermissionProfile(config: Config, id: string): boolean {
  return BUILT_IN_PROFILES.has(id) || (!id.startsWith(':') && config.isSet(['permissions', id]));
}

/**
 * Returns the sandbox policy of a permission profile. Throws an RpcError if the id is unknown, and
 * a ConfigError if the profile is invalid or has a limit that heddle cannot enforce.
 */
export function permissionProfile(config: Config, id: string): ProfileSandbox {
  if (!isPermissionProfile(config, id))
    throw unknownPermissionProfile(id, permissionProfileIds(config));
  const table = readProfileTable(config, id);
  const access = profileAccess(table);
  if ('problem' in access)
    throw config.error(
      ['permissions', id],
      `heddle cannot enforce this permission profile: ${access.problem}`,
    );
  const { policy, hidden } = access;
  return {
    sandboxPolicy: policy,
    permissionProfile: { id, extends: table.extends },
    ...(hidden.length > 0 && { hidden }),
  };
}

/**
 * Returns the profile that `default_permissions` names. Returns null if it is not set, or a higher
 * layer sets `sandbox_mode`.
 */
export function defaultPermissionProfile(config: Config): ProfileSandbox | null {
  const id = config.get('default_permissions');
  if (id === null || layerOf(config, 'sandbox_mode') > layerOf(config, 'default_permissions'))
    return null;
  if (!isPermissionProfile(config, id))
    throw config.incomplete(['default_permissions'], `there is no permission profile \`${id}\``);
  return permissionProfile(config, id);
}

/**
 * Returns a function that returns whether commands in a sandbox may use unix sockets. The
 * permission profile decides, else `[sandbox_workspace_write]`. Read-only sandboxes never allow it.
 * Throws a ConfigError if that setting is invalid, or `permissions` is no table.
 */
export function unixSocketRule(config: Config): (sandbox: NamedSandbox) => boolean {
  const configured = config.get('sandbox_workspace_write.unix_sockets');
  config.keys(['permissions']);
  return ({ sandboxPolicy: { type }, permissionProfile: profile, limits }) =>
    type === 'workspaceWrite' &&
    limits?.unixSockets !== false &&
    (profile ? validTable(config, profile.id)?.network.unixSockets === true : configured);
}

/**
 * Returns a function that returns how the network of commands in a sandbox is managed; null: it is
 * not. The limits of a profile that no longer exists or is invalid are unknown, so it is managed as
 * if nothing were allowed. Throws a ConfigError if the settings of the network are invalid, or
 * `permissions` is no table.
 */
export function managedNetworkRule(
  config: Config,
): (sandbox: NamedSandbox) => NetworkPolicy | null {
  const policyOf = networkPolicyRule(config);
  config.keys(['permissions']);
  return ({ permissionProfile: profile, limits }) => {
    const own = policyOf(
      profile ? (validTable(config, profile.id)?.network.limits ?? 'unknown') : null,
    );
    return limitedNetwork(own, limits?.networks ?? []);
  };
}

/** Returns all profiles. A profile that is invalid or cannot be enforced is not `allowed`. */
export function listPermissionProfiles(config: Config): PermissionProfileSummary[] {
  return permissionProfileIds(config).map((id) => {
    const table = validTable(config, id);
    return {
      id,
      description: table?.description ?? null,
      allowed: table !== null && !('problem' in profileAccess(table)),
    };
  });
}

/** Returns null if there is no such profile, or it is invalid. */
function validTable(config: Config, id: string): ProfileTable | null {
  if (!isPermissionProfile(config, id)) return null;
  try {
    return readProfileTable(config, id);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return null;
  }
}

/** Returns the index of the highest layer that sets a key, or -1 if none does. */
function layerOf(config: Config, key: string): number {
  const layer = config.layerOf([key]);
  return layer === null ? -1 : config.layers.indexOf(layer);
}
