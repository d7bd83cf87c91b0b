import type { ConfigWarningNotification } from '../../protocol/generated/types.ts';
import type { Config } from '../config.ts';
import { ConfigError } from '../config-error.ts';
import { SETTINGS, type SettingName } from '../settings.ts';
import { requiredValue } from './requirements.ts';

const LIMITED = ['approval_policy', 'approvals_reviewer', 'sandbox_mode', 'web_search'] as const satisfies readonly SettingName[];

/** Returns the warnings about settings that the administrator does not allow, and about limits that heddle does not enforce. */
export function requirementWarnings(config: Config): ConfigWarningNotification[] {
  const { source, unknown } = config.requirements;
  const limited = limitedSettings(config).map(({ message, location }) => ({
    summary: message,
    details: 'Set an allowed value, or ask the administrator of this machine.',
    ...location,
  }));
  if (unknown.length === 0) return limited;
  const { message, location } = new ConfigError(`heddle does not enforce these requirements: ${unknown.join(', ')}`, source.locate([]));
  return [...limited, { summary: message, details: 'docs/configuration.md lists those that it enforces.', ...location }];
}

/** Returns an error for each setting whose value the administrator does not allow, so that another one counts. */
export function limitedSettings(config: Config): ConfigError[] {
  const features = Object.keys(config.requirements.features ?? {}).map((name) => `features.${name}` as SettingName);
  return [...LIMITED, ...features].filter((name) => Object.hasOwn(SETTINGS, name)).flatMap((name) => notAllowed(config, name));
}

function notAllowed(config: Config, name: SettingName): ConfigError[] {
  const path = name.split('.');
  // Only what somebody has set: defaults are limited without a word.
  if (config.layerOf(path) === null) return [];
  const set = valueOrNull(config, name);
  if (set === null) return [];
  const allowed = requiredValue(name, set.value as never, config.requirements);
  if (JSON.stringify(allowed) === JSON.stringify(set.value)) return [];
  const { path: file } = config.requirements.source.locate([]);
  return [config.error(path, `${JSON.stringify(set.value)} is not allowed by ${file}, so ${JSON.stringify(allowed)} counts`)];
}

/** Null: the value is invalid, which another warning says. */
function valueOrNull(config: Config, name: SettingName): { value: unknown } | null {
  try {
    return { value: config.read<unknown>(name.split('.'), SETTINGS[name]) };
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}
