import type { Config } from '../config/config.ts';
import type { ConfigReads } from '../config/config-errors.ts';
import { networkPolicyRule } from './network/network-policy-rule.ts';
import { defaultPermissionProfile, permissionProfile } from './permissions/permission-profile.ts';
import { requiredHidden } from './permissions/required/required-hidden.ts';

/**
 * Reads the permission profiles of `[permissions]`, the default one, the limits of the network, and
 * the files that the administrator hides.
 */
export const policyReads: ConfigReads = (config) => [
  () => defaultPermissionProfile(config),
  () => networkPolicyRule(config),
  () => requiredHidden(config),
  ...config.keys(['permissions']).map((id) => () => readProfile(config, id)),
];

function readProfile(config: Config, id: string): unknown {
  if (id.startsWith(':'))
    throw config.error(
      ['permissions', id],
      'names that begin with a colon are those of built-in profiles: choose another name',
    );
  return permissionProfile(config, id);
}
