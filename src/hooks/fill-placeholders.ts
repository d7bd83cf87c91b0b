import { type JsonObject, type JsonValue, mapStrings } from '../base/json-value.ts';

/** The place of a field of the event in a text: `${name.of.field}`. */
const PLACE = /\$\{([^}]+)\}/g;

/**
 * The value with each `${name.of.field}` in its strings replaced by that field of the event, or the
 * fields that the event lacks.
 */
export function fillPlaceholders(
  value: JsonObject,
  event: JsonObject,
): { input: JsonObject } | { missing: string[] } {
  const missing = new Set<string>();
  const textOf = (path: string) => {
    const found = fieldOf(event, path);
    if (found === undefined) missing.add(path);
    return typeof found === 'string' ? found : JSON.stringify(found ?? null);
  };
  const input = mapStrings(value, (text) => text.replace(PLACE, (_, path: string) => textOf(path)));
  return missing.size === 0 ? { input } : { missing: [...missing] };
}

function fieldOf(event: JsonObject, path: string): JsonValue | undefined {
  let at: JsonValue | undefined = event;
  for (const key of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as JsonObject)[key];
  }
  return at;
}
