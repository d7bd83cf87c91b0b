import type { JsonObject } from '../../base/json-value.ts';
import { suggestKey } from '../../base/text/suggest-key.ts';
import type { Config } from '../config.ts';
import { FEATURE_LIST, findFeature } from '../features/feature-list.ts';
import { isUnservedFeature } from '../keys/unserved-keys.ts';
import {
  DENIED_KEYS,
  REQUIREMENT_LISTS,
  type Requirements,
  requiredValue,
} from '../requirements/requirements.ts';
import { SETTINGS, type SettingName } from '../settings/settings.ts';
import { ConfigError, type LocatedWarning } from '../toml/config-error.ts';
import { emptyTable, isTable, mergeTables, valueAt } from '../toml/config-table.ts';

/**
 * Returns the warnings about settings that the administrator does not allow, and about limits that
 * heddle does not enforce.
 */
export function requirementWarnings(config: Config): LocatedWarning[] {
  const limited = limitedSettings(config).map(({ message, location }) => ({
    summary: message,
    details: 'Set an allowed value, or ask the administrator of this machine.',
    location,
  }));
  const unknown = unenforced(config.requirements);
  if (unknown.length === 0) return limited;
  const { source } = config.requirements;
  const { message, location } = new ConfigError(
    `heddle does not enforce these requirements: ${unknown.join(', ')}`,
    source.locate([]),
  );
  return [
    ...limited,
    {
      summary: message,
      details: 'docs/configuration/requirements.md lists those that it enforces.',
      location,
    },
  ];
}

/**
 * The keys of the file that limit nothing. A feature that heddle does not have is off, as one that
 * it always has is on.
 */
function unenforced({ source, features }: Requirements): string[] {
  const isServed = (key: string) =>
    key === 'features' || key === 'permissions' || Object.hasOwn(REQUIREMENT_LISTS, key);
  const keys = Object.keys(source.config).filter((key) => !isServed(key));
  const names = Object.entries(features ?? {}).filter(
    ([name, enabled]) => findFeature(name) === null && isUnservedFeature(name, enabled),
  );
  return [
    ...keys.map((key) =>
      withMeant(key, key, [...Object.keys(REQUIREMENT_LISTS), 'features', 'permissions']),
    ),
    ...unenforcedPermissions(source.config),
    ...names.map(([name]) =>
      withMeant(
        `features.${name}`,
        name,
        FEATURE_LIST.map(({ name: known }) => known),
      ),
    ),
  ];
}

/** A misspelt limit is none, so the name that was meant is said with it. */
function withMeant(shown: string, key: string, known: readonly string[]): string {
  const nearest = suggestKey(key, known);
  return nearest === null ? shown : `${shown} (did you mean ${nearest}?)`;
}

function unenforcedPermissions({ permissions }: JsonObject): string[] {
  if (!isTable(permissions)) return [];
  const others = Object.keys(permissions).filter((key) => key !== 'filesystem');
  const files = Object.keys(isTable(permissions.filesystem) ? permissions.filesystem : {}).filter(
    (key) => !DENIED_KEYS.includes(key),
  );
  return [
    ...others.map((key) => withMeant(`permissions.${key}`, key, ['filesystem'])),
    ...files.map((key) => withMeant(`permissions.filesystem.${key}`, key, DENIED_KEYS)),
  ];
}

/**
 * Returns an error for each setting whose value the administrator does not allow, so that another
 * one counts.
 */
export function limitedSettings(config: Config): ConfigError[] {
  return [
    ...Object.values(REQUIREMENT_LISTS).flatMap((name) => notAllowed(config, name)),
    ...switchedOtherwise(config),
  ];
}

function notAllowed(config: Config, name: SettingName): ConfigError[] {
  const path = name.split('.');
  // Only what somebody has set: defaults are limited without a word.
  if (config.layerOf(path) === null) return [];
  const set = valueOrNull(config, name);
  if (set === null) return [];
  const allowed = requiredValue(name, set.value as never, config.requirements);
  if (JSON.stringify(allowed) === JSON.stringify(set.value)) return [];
  return [notAllowedError(config, path, [set.value, allowed])];
}

/**
 * Returns an error for each feature that somebody has set to another value than the required one.
 */
function switchedOtherwise(config: Config): ConfigError[] {
  const set = config.layers.map((layer) => layer.config).reduce(mergeTables, emptyTable());
  return Object.entries(config.requirements.features ?? {}).flatMap(([name, required]) => {
    const value = valueAt(set, ['features', name]);
    const isEnabled = isTable(value) ? value.enabled !== false : value;
    return value === undefined || isEnabled === required
      ? []
      : [notAllowedError(config, ['features', name], [isEnabled, required])];
  });
}

function notAllowedError(
  config: Config,
  path: readonly string[],
  [set, allowed]: readonly [unknown, unknown],
): ConfigError {
  const { path: file } = config.requirements.source.locate([]);
  return config.error(
    path,
    `${JSON.stringify(set)} is not allowed by ${file}, so ${JSON.stringify(allowed)} counts`,
  );
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
