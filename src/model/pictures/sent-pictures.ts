import { decodeBase64 } from '../../base/decode-base64.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import { imageType } from './image-type.ts';
import { mapPictures, type PicturePart, pictureParts, type TextPart } from './picture-parts.ts';
import { pictureSize } from './picture-size.ts';
import type { ScaledPictures } from './scaled-pictures.ts';

/** The longer side of a picture that is sent, in pixels. */
const SIDE_MAX = 2048;
/** A larger picture is not decoded: it takes four bytes of memory for each pixel. */
const PIXELS_MAX = 64 * 1024 * 1024;

/**
 * Makes pictures such that providers take them: large ones are scaled, and data that is no picture
 * becomes a text. A request that has such data is refused, and so would be each later one of its
 * thread.
 */
export class SentPictures {
  readonly #scaled: ScaledPictures;
  /** By item of a thread: what is sent in its place. Items never change. */
  readonly #sent = new WeakMap<ResponseItem, ResponseItem>();

  constructor(scaled: ScaledPictures) {
    this.#scaled = scaled;
  }

  /**
   * Returns what is sent in the place of the items. The same item always has the same one, so that
   * a prompt keeps its prefix.
   */
  async of(input: readonly ResponseItem[]): Promise<ResponseItem[]> {
    const sent: ResponseItem[] = [];
    for (const item of input)
      sent.push(
        pictureParts(item).length === 0 ? item : (this.#sent.get(item) ?? (await this.#made(item))),
      );
    return sent;
  }

  async #made(item: ResponseItem): Promise<ResponseItem> {
    const made = await mapPictures(item, (part) => this.#part(part));
    this.#sent.set(item, made);
    return made;
  }

  async #part(part: PicturePart): Promise<PicturePart | TextPart> {
    const url = part.image_url;
    // A picture that the provider has or fetches: it can say itself what is wrong with it.
    if (!url || /^https?:/i.test(url)) return part;
    const [whole, given] = /^data:([^;,]{0,100})[^,]{0,200};base64,/i.exec(url) ?? [];
    if (whole === undefined || given === undefined)
      return notShown('its address is neither a Base64 data URL nor a web address');
    if (!/^image\//i.test(given))
      return notShown(`its data is of another type (${given || 'none is given'})`);
    return this.#data(part, given, url.slice(whole.length));
  }

  async #data(part: PicturePart, given: string, data: string): Promise<PicturePart | TextPart> {
    const bytes = await decodeBase64(data);
    if (bytes === null) return notShown('its data is not valid Base64');
    const type = imageType(bytes);
    const size = type && pictureSize(type, bytes);
    if (!type || !size) return notShown('its data is not a PNG, JPEG, GIF, WebP or BMP image');
    const { width, height } = size;
    if (Math.max(width, height) <= SIDE_MAX)
      return given === type ? part : { ...part, image_url: `data:${type};base64,${data}` };
    if (width * height > PIXELS_MAX)
      return notShown(`its size of ${width} × ${height} pixels exceeds the limit`);
    const scaled = await this.#scaled.urlOf({ bytes, type }, SIDE_MAX);
    if (scaled === null)
      return notShown(
        `its data of ${width} × ${height} pixels is damaged, or takes too long to decode`,
      );
    return { ...part, image_url: scaled };
  }
}

function notShown(why: string): TextPart {
  return { type: 'input_text', text: `[An image was here. It is not shown, because ${why}.]` };
}
