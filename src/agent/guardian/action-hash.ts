import { createHash } from 'node:crypto';
import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { jsonPieces } from '../../base/json-pieces.ts';
import type { JsonObject, JsonValue } from '../../base/json-value.ts';

/** Identifies an action: two actions have the same hash only if everything about them is the same. */
export async function actionHash(planned: JsonObject, breaks: EventLoopYield): Promise<string> {
  const hash = createHash('sha256');
  for (const piece of jsonPieces(sorted(planned))) {
    hash.update(piece);
    await breaks.worked(1);
  }
  return hash.digest('hex');
}

/** The value with the keys of its objects in order. */
function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key] ?? null)]));
}
