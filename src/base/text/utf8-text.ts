import { isUtf8 } from 'node:buffer';

/**
 * More bytes are decoded as they come: copying them into one buffer and decoding them at once takes
 * milliseconds.
 */
const AT_ONCE_BYTES = 256 * 1024;

/** The text of UTF-8 bytes that come in parts. A long text is decoded as its parts come. */
export class Utf8Text {
  /** The parts that are not decoded. */
  #parts: Buffer[] = [];
  /** Their length. */
  #length = 0;
  /** Null: the bytes are not UTF-8. */
  #decoded: string | null = '';

  push(part: Buffer): void {
    this.#parts.push(part);
    this.#length += part.length;
    if (this.#length < AT_ONCE_BYTES) return;
    const bytes = this.#bytes();
    const length = wholeCharacters(bytes);
    this.#parts = [bytes.subarray(length)];
    this.#length = bytes.length - length;
    this.#decode(bytes.subarray(0, length));
  }

  /**
   * Returns the text, including a byte order mark, and begins a new one. Returns null if the bytes
   * are not UTF-8.
   */
  take(): string | null {
    this.#decode(this.#bytes());
    const text = this.#decoded;
    this.drop();
    return text;
  }

  /** Begins a new text. */
  drop(): void {
    this.#parts = [];
    this.#length = 0;
    this.#decoded = '';
  }

  #bytes(): Buffer {
    const [first = Buffer.alloc(0), ...others] = this.#parts;
    return others.length === 0 ? first : Buffer.concat(this.#parts);
  }

  #decode(bytes: Buffer): void {
    if (this.#decoded !== null)
      this.#decoded = isUtf8(bytes) ? this.#decoded + bytes.toString('utf8') : null;
  }
}

/** The most bytes of a character. */
const CHARACTER_BYTES_MAX = 4;

/** The length of the bytes without a last character whose end is missing. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back < CHARACTER_BYTES_MAX; back++) {
    const length = characterBytes(bytes[bytes.length - back] ?? 0);
    if (length !== null) return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/**
 * The length of the character that a byte begins, which its first bits say. Null: it begins none.
 */
function characterBytes(first: number): number | null {
  if (first < 0x80) return 1;
  if (first < 0xc0) return null;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}
