import type { JsonValue } from './json-value.ts';

/** Returns the value with the keys of all its objects in order, so that equal values have the same JSON. */
export function withSortedKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, withSortedKeys(value[key] ?? null)]));
}
