import type { Config } from '../../config/config.ts';
import { flag } from '../../config/settings/setting.ts';
import { isTable, valueAt } from '../../config/toml/config-table.ts';
import type { NetworkPolicy } from './network-policy.ts';
import {
  type NetworkTable,
  NO_LIMITS,
  networkPolicyOf,
  readNetworkTable,
  setsNetwork,
  strictestNetwork,
} from './read-network-table.ts';

const FEATURE = ['features', 'network_proxy'];

/**
 * The table of a thread's permission profile. `unknown`: the profile cannot be read. Null: the
 * thread has none.
 */
type ProfileNetwork = NetworkTable | 'unknown' | null;

/**
 * Returns a function that returns how the network is managed for a permission profile. The result
 * is null if the network is not managed: commands that have it then have it directly. It is managed
 * if the feature `network_proxy` is on, and by a profile that sets anything about it or is unknown,
 * because a limit must not be lost. If both do, the stricter settings count. Throws a ConfigError
 * if the feature's table is invalid.
 */
export function networkPolicyRule(
  config: Config,
): (profile: ProfileNetwork) => NetworkPolicy | null {
  const feature = readFeature(config);
  return (profile) => {
    const table = profile === 'unknown' ? null : profile;
    const isManaged =
      feature !== null || profile === 'unknown' || (table !== null && setsNetwork(table));
    return isManaged
      ? networkPolicyOf(strictestNetwork(table ?? NO_LIMITS, feature ?? NO_LIMITS))
      : null;
  };
}

/**
 * Reads `features.network_proxy`, which is true or a table. A table is on unless it says otherwise.
 * Returns null if it is off.
 */
function readFeature(config: Config): NetworkTable | null {
  if (!isTable(valueAt(config.values, FEATURE) ?? false))
    return config.read(FEATURE, flag()) ? NO_LIMITS : null;
  const table = readNetworkTable(config, FEATURE, ['enabled']);
  return config.read([...FEATURE, 'enabled'], { ...flag(), absent: true }) ? table : null;
}
