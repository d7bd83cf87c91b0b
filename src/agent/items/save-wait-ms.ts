import { jsonWeight } from '../../base/text/json-pieces.ts';
import type { UntimedItem } from '../../protocol/generated/types.ts';

const WAIT_MS = 500;
/** An item of so many characters is saved as often as every shorter one. */
const CHARS = 256 * 1024;

/**
 * How long, in milliseconds, an item may grow before it is saved again. A killed server loses at
 * most this much of it. It grows with the item, so that the saves of a long one take no more of a
 * second than those of a short one.
 */
export function saveWaitMs(item: UntimedItem): number {
  return WAIT_MS * Math.max(1, jsonWeight(item) / CHARS);
}
