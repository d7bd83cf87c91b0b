import { createHash } from 'node:crypto';
import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { type JsonObject, withSortedKeys } from '../../base/json-value.ts';
import { jsonPieces } from '../../base/text/json-pieces.ts';

/**
 * Identifies an action: two actions have the same hash only if everything about them is the same.
 */
export async function actionHash(planned: JsonObject, breaks: EventLoopYield): Promise<string> {
  const hash = createHash('sha256');
  for (const piece of jsonPieces(withSortedKeys(planned))) {
    hash.update(piece);
    await breaks.worked(1);
  }
  return hash.digest('hex');
}
