import { isObject, type JsonObject, type JsonValue } from '../base/json-value.ts';

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
  const input = fill(value, (path) => {
    const found = fieldOf(event, path);
    if (found === undefined) missing.add(path);
    return typeof found === 'string' ? found : JSON.stringify(found ?? null);
  }) as JsonObject;
  return missing.size === 0 ? { input } : { missing: [...missing] };
}

function fill(value: JsonValue, textOf: (path: string) => string): JsonValue {
  if (typeof value === 'string') return value.replace(PLACE, (_, path: string) => textOf(path));
  if (Array.isArray(value)) return value.map((each) => fill(each, textOf));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, each]) => [key, fill(each, textOf)]),
  );
}

function fieldOf(event: JsonObject, path: string): JsonValue | undefined {
  let at: JsonValue | undefined = event;
  for (const key of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as JsonObject)[key];
  }
  return at;
}
