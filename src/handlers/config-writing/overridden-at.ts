import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import type { Config } from '../../config/config.ts';
import { type Layer, layerVersion } from '../../config/layers/layer.ts';
import { isTable, valueAt } from '../../config/toml/config-table.ts';
import type { OverriddenMetadata } from '../../protocol/generated/types.ts';

/** Returns the layer that overrides a value of config.toml; null: it is in effect. */
export function overriddenAt(
  { config, layer: own }: { config: Config; layer: Layer },
  path: readonly string[],
): OverriddenMetadata | null {
  const value = valueAt(own.config, path);
  const effective = valueAt(config.values, path) ?? null;
  const different = value === undefined ? null : firstDifference(value, effective, path);
  if (different === null) return null;
  const layer = config.layerOf(different);
  if (layer === null || (layer.name.type === 'user' && layer.name.profile === null)) return null;
  const message = `${different.join('.')} is overridden: it is ${layer.label ?? `set by ${sourceOf(layer)}`}`;
  return {
    message,
    overridingLayer: { name: layer.name, version: layerVersion(layer) },
    effectiveValue: effective,
  };
}

function firstDifference(
  own: JsonValue,
  effective: JsonValue,
  path: readonly string[],
): readonly string[] | null {
  if (!isTable(own) || !isTable(effective)) return isDeepStrictEqual(own, effective) ? null : path;
  for (const [key, value] of Object.entries(own)) {
    const found = firstDifference(value, (effective as JsonObject)[key] ?? null, [...path, key]);
    if (found !== null) return found;
  }
  return null;
}

function sourceOf({ name, locate }: Layer): string {
  return name.type === 'user' && name.profile
    ? `the profile ${name.profile}`
    : (locate([]).path ?? name.type);
}
