import type { Config } from './config.ts';
import { providerKeys } from './providers/provider-keys.ts';

/** Decides which environment variables commands get: `[shell_environment_policy]`. */
export interface EnvironmentPolicy {
  inherit: 'all' | 'core' | 'none';
  /** Whether commands also get variables whose names or values look like secrets. */
  ignoreDefaultExcludes: boolean;
  /** Name patterns. */
  exclude: readonly string[];
  set: Readonly<Record<string, string>>;
  /** Name patterns. Empty: all names. */
  includeOnly: readonly string[];
  /** The variables that hold the keys of model providers. */
  keyNames: readonly string[];
  /** These keys: the values that no variable may contain. */
  keys: readonly string[];
}

/** Reads `[shell_environment_policy]`. Throws a ConfigError if a setting is invalid. */
export function environmentPolicy(config: Config): EnvironmentPolicy {
  const { names, values } = providerKeys(config);
  return {
    inherit: config.get('shell_environment_policy.inherit'),
    ignoreDefaultExcludes: config.get('shell_environment_policy.ignore_default_excludes'),
    exclude: config.get('shell_environment_policy.exclude'),
    set: config.get('shell_environment_policy.set'),
    includeOnly: config.get('shell_environment_policy.include_only'),
    keyNames: names,
    keys: values,
  };
}
