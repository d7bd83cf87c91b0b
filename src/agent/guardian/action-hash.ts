import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../base/json-value.ts';

/** Identifies an action: two actions have the same hash only if everything about them is the same. */
export function actionHash(planned: JsonObject): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(planned)))
    .digest('hex');
}

/** The value with the keys of its objects in order. */
function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key] ?? null)]));
}
