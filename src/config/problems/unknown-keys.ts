import type { JsonValue } from '../../base/json-value.ts';
import { suggestKey } from '../../base/text/suggest-key.ts';
import { findFeature } from '../features/feature-list.ts';
import {
  FEATURE_KEYS,
  KNOWN_TABLES,
  type KnownTable,
  TOP_KEYS,
  UNSERVED_PROVIDER_KEYS,
} from '../keys/known-tables.ts';
import { tellSome } from '../keys/tell-some.ts';
import { asksForSomething, isUnservedFeature, UNSERVED_KEYS } from '../keys/unserved-keys.ts';
import type { Layer } from '../layers/layer.ts';
import { ConfigError, type LocatedWarning } from '../toml/config-error.ts';
import { isTable, valueAt } from '../toml/config-table.ts';

/** The most allowed keys that a warning lists. */
const LISTED_MAX = 20;

/**
 * Returns the warnings about the keys of a layer that have no effect: one for each key that no
 * program knows, and a single one for all that heddle reads and does not use.
 */
export function keyWarnings(layer: Layer): LocatedWarning[] {
  if (layer.disabledReason !== null) return [];
  return [...unknownKeys(layer), ...unservedKeys(layer), ...keysOfFile(layer)];
}

/**
 * Returns the paths of the keys that have no effect, because no program knows them or heddle does
 * not use them.
 */
export function unusedPaths(layer: Layer): string[][] {
  return [...allUnknown(layer).map(({ path }) => path), ...allUnserved(layer)];
}

/** Returns a warning for each key of a layer that no program knows. */
export function unknownKeys(layer: Layer): LocatedWarning[] {
  return tellSome(allUnknown(layer), {
    each: ({ path, known }) => unknownKey(layer, path, known),
    rest: (names) => ({
      summary: `These keys${source(layer)} are not known either: ${names}`,
      details: NO_EFFECT,
      location: layer.locate([]),
    }),
  });
}

function allUnknown(layer: Layer): UnknownKey[] {
  return [
    ...unknownIn(layer, [], TOP_KEYS),
    ...unknownIn(layer, ['features'], FEATURE_KEYS),
    ...KNOWN_TABLES.flatMap((table) =>
      tablesAt(layer, table).flatMap((path) => unknownIn(layer, path, table.keys)),
    ),
  ];
}

/** `known`: the keys that its table can have. */
interface UnknownKey {
  path: string[];
  known: readonly string[];
}

function unknownIn(layer: Layer, path: readonly string[], known: readonly string[]): UnknownKey[] {
  return Object.keys(tableAt(layer, path) ?? {})
    .filter((key) => !known.includes(key))
    .map((key) => ({ path: [...path, key], known }));
}

const NO_EFFECT = 'They have no effect. docs/configuration.md lists the keys that heddle knows.';

function unknownKey(
  layer: Layer,
  path: readonly string[],
  known: readonly string[],
): LocatedWarning {
  const suggested = suggestKey(path.at(-1) ?? '', known);
  const table = path.slice(0, -1).join('.');
  const list =
    known.length <= LISTED_MAX
      ? `The keys of ${table} are ${known.join(', ')}.`
      : 'docs/configuration.md lists the keys that heddle knows.';
  const { message, location } = new ConfigError(
    `${path.join('.')}${source(layer)} is not a known key`,
    layer.locate(path),
  );
  return {
    summary: message,
    details: suggested === null ? `It has no effect. ${list}` : `Did you mean ${suggested}?`,
    location,
  };
}

/**
 * A single warning, because a home of another program has many such keys and they are no mistakes.
 */
function unservedKeys(layer: Layer): LocatedWarning[] {
  const names = allUnserved(layer).map((path) => path.join('.'));
  if (names.length === 0) return [];
  const summary = `heddle does not use these settings${source(layer)}: ${names.join(', ')}`;
  return [
    {
      summary,
      details: 'docs/coming-from-codex.md says what becomes of each setting.',
      location: layer.locate([]),
    },
  ];
}

function allUnserved(layer: Layer): string[][] {
  const top = Object.entries(layer.config).filter(
    ([key, value]) => UNSERVED_KEYS.has(key) && asksForSomething(value),
  );
  return [...top.map(([key]) => [key]), ...unservedFeatures(layer), ...unservedOfProviders(layer)];
}

/** Only the user's own file decides which projects are trusted, and a profile has no profiles. */
function keysOfFile(layer: Layer): LocatedWarning[] {
  const { name, config } = layer;
  const profile = name.type === 'user' ? name.profile : null;
  const keys =
    name.type === 'sessionFlags'
      ? ['projects']
      : profile !== null
        ? ['profile', 'profiles', 'projects']
        : [];
  const place = profile === null ? source(layer) : ` in the profile ${profile}`;
  const other = `in the config.toml in your heddle home${profile === null ? '' : ', outside of profiles'}`;
  return keys
    .filter((key) => config[key] !== undefined)
    .map((key) => ({
      summary: `${key}${place} has no effect: set it ${other}`,
      details: null,
      location: layer.locate([key]),
    }));
}

function unservedFeatures(layer: Layer): string[][] {
  return Object.entries(tableAt(layer, ['features']) ?? {}).flatMap(([name, value]) => {
    // `agentWarnings` tells about this one, with what heddle has in its place.
    if (name === 'multi_agent_v2' || findFeature(name) !== null) return [];
    // `unknownKeys` tells about the others.
    return FEATURE_KEYS.includes(name) && isUnservedFeature(name, value)
      ? [['features', name]]
      : [];
  });
}

function unservedOfProviders(layer: Layer): string[][] {
  return Object.keys(tableAt(layer, ['model_providers']) ?? {}).flatMap((id) => {
    const keys = Object.entries(tableAt(layer, ['model_providers', id]) ?? {});
    return keys.flatMap(([key, value]) =>
      UNSERVED_PROVIDER_KEYS.has(key) && asksForSomething(value)
        ? [['model_providers', id, key]]
        : [],
    );
  });
}

function tablesAt(layer: Layer, { path }: KnownTable): string[][] {
  return path.reduce<string[][]>(
    (found, key) =>
      found.flatMap((outer) =>
        key === '*'
          ? Object.keys(within(layer, outer) ?? {}).map((name) => [...outer, name])
          : [[...outer, key]],
      ),
    [[]],
  );
}

function tableAt(layer: Layer, path: readonly string[]): Record<string, JsonValue> | null {
  const found = within(layer, path);
  return Array.isArray(found) ? null : found;
}

/** The table or list at a path, in which the elements of a list have their positions as names. */
function within(
  layer: Layer,
  path: readonly string[],
): Record<string, JsonValue> | JsonValue[] | null {
  const value = path.reduce<JsonValue | undefined>((outer, key) => {
    if (Array.isArray(outer)) return outer[Number(key)];
    return isTable(outer) ? valueAt(outer, [key]) : undefined;
  }, layer.config);
  return isTable(value) || Array.isArray(value) ? value : null;
}

/** For layers that are not a file. */
function source({ label }: Layer): string {
  return label === null ? '' : ` (${label})`;
}
