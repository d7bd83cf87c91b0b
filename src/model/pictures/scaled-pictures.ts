import { createHash } from 'node:crypto';
import { encodeBase64 } from '../../base/encode-base64.ts';
import { inSlices, slicesOf } from '../../base/in-slices.ts';
import { KeyedQueue } from '../../base/keyed-queue.ts';

export interface Picture {
  bytes: Uint8Array;
  /** Its media type. */
  type: string;
}

/**
 * Scales a picture to this length of its longer side. Resolves with null if it cannot be decoded,
 * and with `unfinished` if it took too long or the system lacks resources: another attempt may
 * succeed. Never rejects.
 */
export type ScalePicture = (
  picture: Picture,
  sideMax: number,
) => Promise<Picture | null | 'unfinished'>;

/** The data of the results that are kept, in characters of Base64. */
const KEPT_CHARS_MAX = 64 * 1024 * 1024;
/** Hashed at once: about a millisecond. */
const PIECE_BYTES = 512 * 1024;
/** So many bytes count as one unit of work. */
const BYTES_A_UNIT = 500;

/**
 * Scales pictures, one after another, and keeps the results: each is needed again with every
 * request of its thread.
 */
export class ScaledPictures {
  readonly #scale: ScalePicture;
  readonly #queue = new KeyedQueue();
  /**
   * The results as data URLs, by the hash of the picture. Null: it cannot be scaled. The one that
   * was used last is at the end.
   */
  readonly #kept = new Map<string, string | null>();
  #keptChars = 0;

  constructor(scale: ScalePicture) {
    this.#scale = scale;
  }

  /**
   * Resolves with the scaled picture as a data URL, or with null if it cannot be scaled, now or
   * ever.
   */
  async urlOf(picture: Picture, sideMax: number): Promise<string | null> {
    const key = await hashOf(picture.bytes);
    return this.#queue.run('scale', async () => {
      const known = this.#kept.get(key);
      if (known === undefined) {
        const scaled = await this.#scale(picture, sideMax);
        return scaled === 'unfinished' ? null : this.#keep(key, scaled && (await urlOf(scaled)));
      }
      this.#kept.delete(key);
      this.#kept.set(key, known);
      return known;
    });
  }

  #keep(key: string, url: string | null): string | null {
    this.#kept.set(key, url);
    this.#keptChars += sizeOf(url);
    for (const [oldest, other] of this.#kept) {
      if (this.#keptChars <= KEPT_CHARS_MAX || oldest === key) break;
      this.#kept.delete(oldest);
      this.#keptChars -= sizeOf(other);
    }
    return url;
  }
}

async function urlOf({ type, bytes }: Picture): Promise<string> {
  return `data:${type};base64,${await encodeBase64(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))}`;
}

/** A failure takes a little memory, too. */
function sizeOf(url: string | null): number {
  return 100 + (url?.length ?? 0);
}

async function hashOf(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const units = ({ length }: Buffer) => length / BYTES_A_UNIT;
  for await (const piece of inSlices(slicesOf(whole, PIECE_BYTES), units)) hash.update(piece);
  return hash.digest('base64');
}
