import { createHash } from 'node:crypto';
import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices } from '../../base/in-slices.ts';
import { type JsonObject, withSortedKeys } from '../../base/json-value.ts';
import { jsonPieces } from '../../base/text/json-pieces.ts';

/**
 * Identifies an action: two actions have the same hash only if everything about them is the same.
 */
export async function actionHash(planned: JsonObject, breaks: EventLoopYield): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of inSlices(jsonPieces(withSortedKeys(planned)), 1, breaks))
    hash.update(piece);
  return hash.digest('hex');
}
