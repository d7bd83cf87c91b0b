import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../config/config-error.ts';
import type { ActivePermissionProfile, PermissionProfileSummary, SandboxPolicy } from '../../protocol/generated/types.ts';
import { unknownPermissionProfile } from '../../protocol/rpc-error.ts';
import { profilePolicy } from './profile-policy.ts';
import { BUILT_IN_PROFILES, readProfileTable } from './profile-table.ts';

/** A permission profile as a thread runs with it. */
export interface ProfileSandbox {
  sandboxPolicy: SandboxPolicy;
  permissionProfile: ActivePermissionProfile;
}

/** The ids of the permission profiles that there are: the built-in ones, and those of `[permissions]`. */
export function permissionProfileIds(config: Config): string[] {
  return [...BUILT_IN_PROFILES.keys(), ...config.keys(['permissions']).filter((id) => !id.startsWith(':'))];
}

/**
 * What a permission profile means. Throws for an id that there is none of, and a ConfigError for a profile that says what
 * this server would not keep: it is never run with less.
 */
export function permissionProfile(config: Config, id: string): ProfileSandbox {
  const known = permissionProfileIds(config);
  if (!known.includes(id)) throw unknownPermissionProfile(id, known);
  const table = readProfileTable(config, id);
  const policy = profilePolicy(table);
  if ('problem' in policy) throw config.error(['permissions', id], `this permission profile cannot be kept: ${policy.problem}`);
  return { sandboxPolicy: policy, permissionProfile: { id, extends: table.extends } };
}

/** The profile that `default_permissions` names; null where `sandbox_mode`, or nothing, has the say. */
export function defaultPermissionProfile(config: Config): ProfileSandbox | null {
  const id = config.get('default_permissions');
  if (id === null || layerOf(config, 'sandbox_mode') > layerOf(config, 'default_permissions')) return null;
  if (!permissionProfileIds(config).includes(id)) throw config.error(['default_permissions'], `there is no permission profile \`${id}\``);
  return permissionProfile(config, id);
}

/** All profiles, with whether each can be run with. */
export function listPermissionProfiles(config: Config): PermissionProfileSummary[] {
  return permissionProfileIds(config).map((id) => {
    try {
      const { description } = readProfileTable(config, id);
      return { id, description, allowed: !('problem' in profilePolicy(readProfileTable(config, id))) };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return { id, description: null, allowed: false };
    }
  });
}

/** How high the layer is that sets a key; -1 where none does. */
function layerOf(config: Config, key: string): number {
  const layer = config.layerOf([key]);
  return layer === null ? -1 : config.layers.indexOf(layer);
}
