import { createHash } from 'node:crypto';
import { inSlices, slicesOf } from '../../base/in-slices.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import { mapPictures, type PicturePart, pictureParts, type TextPart } from './picture-parts.ts';

/** The most refused pictures that are remembered. */
const REFUSED_MAX = 10_000;
/** Hashed at once: about a millisecond. */
const PIECE_CHARS = 512 * 1024;
/** So many characters count as one unit of work. */
const CHARS_A_UNIT = 500;
const NOT_SHOWN: TextPart = {
  type: 'input_text',
  text: '[An image was here. It is not shown, because the provider of the model refused it.]',
};

/** The pictures that one model has refused. They are not sent to it again. */
export class RefusedPictures {
  /** The hashes of the pictures. */
  readonly #refused = new Set<string>();
  /** Items with pictures that the model has taken. */
  readonly #taken = new WeakSet<ResponseItem>();
  readonly #keys = new WeakMap<ResponseItem, string[]>();
  /** By item: what is sent in its place, and how many refusals were known. */
  readonly #sent = new WeakMap<ResponseItem, { item: ResponseItem; known: number }>();
  #known = 0;

  /**
   * Returns the input without the refused pictures. The same item has the same one in its place,
   * until a further picture is refused.
   */
  async without(input: readonly ResponseItem[]): Promise<ResponseItem[]> {
    if (this.#refused.size === 0) return [...input];
    const sent: ResponseItem[] = [];
    for (const item of input)
      sent.push(pictureParts(item).length === 0 ? item : await this.#sentFor(item));
    return sent;
  }

  /** To be called with input that the model has taken. */
  take(input: readonly ResponseItem[]): void {
    for (const item of input) if (pictureParts(item).length > 0) this.#taken.add(item);
  }

  /**
   * To be called with input that the model has refused because of a picture. Remembers the pictures
   * that it has not taken before; if it has taken all, or `all`, remembers each. Returns what it
   * has remembered, for `forget`.
   */
  async refuse(input: readonly ResponseItem[], { all }: { all: boolean }): Promise<string[]> {
    const items = input.filter((item) => pictureParts(item).length > 0);
    const suspects = items.filter((item) => !this.#taken.has(item));
    const noted: string[] = [];
    for (const item of all || suspects.length === 0 ? items : suspects)
      noted.push(...(await this.#keysOf(item)));
    const news = [...new Set(noted)].filter((key) => !this.#refused.has(key));
    for (const key of news) this.#remember(key);
    return news;
  }

  /** Sends pictures again whose refusal has not been confirmed. */
  forget(noted: readonly string[]): void {
    for (const key of noted) if (this.#refused.delete(key)) this.#known++;
  }

  #remember(key: string): void {
    this.#known++;
    this.#refused.add(key);
    const [oldest] = this.#refused;
    if (this.#refused.size > REFUSED_MAX && oldest !== undefined) this.#refused.delete(oldest);
  }

  async #sentFor(item: ResponseItem): Promise<ResponseItem> {
    const made = this.#sent.get(item);
    if (made?.known === this.#known) return made.item;
    const known = this.#known;
    const keys = await this.#keysOf(item);
    const isRefused = keys.some((key) => this.#refused.has(key));
    let index = 0;
    const sent = isRefused
      ? await mapPictures(item, async (part) =>
          this.#refused.has(keys[index++] ?? '') ? NOT_SHOWN : part,
        )
      : item;
    // The text in place of a refused picture stays the same.
    const same =
      made !== undefined && JSON.stringify(made.item) === JSON.stringify(sent) ? made.item : sent;
    this.#sent.set(item, { item: same, known });
    return same;
  }

  async #keysOf(item: ResponseItem): Promise<string[]> {
    const known = this.#keys.get(item);
    if (known !== undefined) return known;
    const keys: string[] = [];
    for (const part of pictureParts(item)) keys.push(await keyOf(part));
    this.#keys.set(item, keys);
    return keys;
  }
}

async function keyOf(part: PicturePart): Promise<string> {
  const name = part.image_url ?? part.file_id ?? '';
  const hash = createHash('sha256');
  const units = (piece: string) => piece.length / CHARS_A_UNIT;
  for await (const piece of inSlices(slicesOf(name, PIECE_CHARS), units))
    hash.update(piece, 'latin1');
  return hash.digest('base64');
}
