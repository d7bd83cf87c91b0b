import { decodeBase64 } from '../base/decode-base64.ts';
import { cutMiddle } from '../base/text/cut-middle.ts';
import { IMAGE_BYTES_MAX, imageType } from '../model/pictures/image-type.ts';
import type { FunctionCallOutputContentItem, ImageDetail } from '../protocol/generated/types.ts';

/** The most parts of one output. */
const PARTS_MAX = 500;
const IMAGES_MAX = 16;
/** The types that all providers take. */
const IMAGE_TYPES: readonly (string | null)[] = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
];
const DATA_URL = /^data:[^,]{0,200};base64,/i;

/** A part of content that another program made. */
export type ForeignPart =
  | { type: 'text'; text: string }
  /** `data`: Base64. */
  | { type: 'image'; data: string; detail: ImageDetail | null }
  /** It is left out. `what`: a fixed text that says what it is, such as "audio". */
  | { type: 'other'; what: string };

/** An image that has this address. It is left out unless the address is a data URL. */
export function imageAt(url: string | null | undefined, detail: ImageDetail | null): ForeignPart {
  const prefix = DATA_URL.exec(url ?? '')?.[0];
  if (!url || prefix === undefined)
    return { type: 'other', what: 'an image that is not a Base64 data URL' };
  return { type: 'image', data: url.slice(prefix.length), detail };
}

/**
 * Content of another program as the output of a call. Texts share `charsMax`, and the one that goes
 * beyond it is cut in its middle. Images are those that all providers take: a provider that refuses
 * one refuses each later request of the thread. A note at the end says what was left out.
 */
export async function foreignOutput(
  parts: Iterable<ForeignPart>,
  charsMax: number,
): Promise<FunctionCallOutputContentItem[]> {
  const output = new Output(charsMax);
  for (const part of parts) {
    if (part.type === 'image') await output.addImage(part);
    else if (part.type === 'text') output.addText(part.text);
    else output.leaveOut(part.what);
  }
  return output.ended();
}

class Output {
  readonly #items: FunctionCallOutputContentItem[] = [];
  /** How many parts were left out, by what they are. */
  readonly #leftOut = new Map<string, number>();
  #charsLeft: number;
  #images = 0;
  #imageBytesLeft = IMAGE_BYTES_MAX;

  constructor(charsMax: number) {
    this.#charsLeft = charsMax;
  }

  addText(text: string): void {
    if (this.#isFull()) return;
    if (this.#charsLeft <= 0 && text !== '') {
      this.leaveOut('a text beyond the limit');
      return;
    }
    this.#items.push({ type: 'input_text', text: cutMiddle(text, this.#charsLeft) });
    this.#charsLeft -= text.length;
  }

  async addImage({ data, detail }: Extract<ForeignPart, { type: 'image' }>): Promise<void> {
    if (this.#isFull()) return;
    const bytesMax = (data.length / 4) * 3;
    if (this.#images >= IMAGES_MAX || bytesMax > this.#imageBytesLeft) {
      this.leaveOut(
        `an image beyond the first ${IMAGES_MAX}, or beyond ${IMAGE_BYTES_MAX / 1024 / 1024} MiB`,
      );
      return;
    }
    const bytes = await decodeBase64(data);
    const type = bytes && imageType(bytes);
    if (!IMAGE_TYPES.includes(type)) {
      this.leaveOut('an image that is not a PNG, JPEG, GIF or WebP file in Base64');
      return;
    }
    this.#images++;
    this.#imageBytesLeft -= bytesMax;
    this.#items.push({
      type: 'input_image',
      image_url: `data:${type};base64,${data}`,
      ...(detail && { detail }),
    });
  }

  leaveOut(what: string): void {
    this.#leftOut.set(what, (this.#leftOut.get(what) ?? 0) + 1);
  }

  ended(): FunctionCallOutputContentItem[] {
    if (this.#leftOut.size === 0) return this.#items;
    const all = [...this.#leftOut].map(([what, count]) => `${count} × ${what}`);
    return [
      ...this.#items,
      { type: 'input_text', text: `[Left out of this result: ${all.join('; ')}.]` },
    ];
  }

  #isFull(): boolean {
    if (this.#items.length < PARTS_MAX) return false;
    this.leaveOut(`a part beyond the first ${PARTS_MAX}`);
    return true;
  }
}
