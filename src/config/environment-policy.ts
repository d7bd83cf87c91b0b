import { isObject } from '../base/json-value.ts';
import type { Config } from './config.ts';
import { providerDefaults } from './providers/provider-defaults.ts';

/** Decides which environment variables commands get: `[shell_environment_policy]`. */
export interface EnvironmentPolicy {
  inherit: 'all' | 'core' | 'none';
  /** Whether commands also get variables whose names look like secrets. */
  ignoreDefaultExcludes: boolean;
  /** Name patterns. */
  exclude: readonly string[];
  set: Readonly<Record<string, string>>;
  /** Name patterns. Empty: all names. */
  includeOnly: readonly string[];
  /** The variables that hold the keys of model providers. */
  keyNames: readonly string[];
}

/** Reads `[shell_environment_policy]`. Throws a ConfigError if a setting is invalid. */
export function environmentPolicy(config: Config): EnvironmentPolicy {
  return {
    inherit: config.get('shell_environment_policy.inherit'),
    ignoreDefaultExcludes: config.get('shell_environment_policy.ignore_default_excludes'),
    exclude: config.get('shell_environment_policy.exclude'),
    set: config.get('shell_environment_policy.set'),
    includeOnly: config.get('shell_environment_policy.include_only'),
    keyNames: keyNames(config),
  };
}

/** The variables of all providers, including those with an invalid definition. */
function keyNames(config: Config): string[] {
  const builtIn = providerDefaults('openai', config.env).envKey;
  const providers = isObject(config.values.model_providers) ? Object.values(config.values.model_providers) : [];
  const named = providers.flatMap((provider) => {
    if (!isObject(provider)) return [];
    const headers = isObject(provider.env_http_headers) ? Object.values(provider.env_http_headers) : [];
    return [provider.env_key, ...headers].filter((name) => typeof name === 'string');
  });
  return [...(builtIn === null ? [] : [builtIn]), ...named];
}
