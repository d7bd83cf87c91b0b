import { jsonWeight } from '../../base/text/json-pieces.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';

/** The text of a heavier item is not kept: making it again takes little more than copying it. */
const KEPT_WEIGHT_MAX = 8 * 1024;

/**
 * The JSON texts of small items that were sent before, as long as the items are in memory. Items
 * never change.
 */
export class ItemTexts {
  readonly #texts = new WeakMap<ResponseItem, string>();

  /** The text of a small item, made by `make` at its first use. Null for other items. */
  of(item: ResponseItem, make: (item: ResponseItem) => string): string | null {
    const known = this.#texts.get(item);
    if (known !== undefined) return known;
    if (jsonWeight(item, KEPT_WEIGHT_MAX) > KEPT_WEIGHT_MAX) return null;
    const text = make(item);
    this.#texts.set(item, text);
    return text;
  }
}
