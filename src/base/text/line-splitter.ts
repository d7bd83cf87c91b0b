import { Utf8Text } from './utf8-text.ts';

const LF = 0x0a;

/** Why a message was skipped. */
export type Skipped = 'too_long' | 'not_utf8' | 'no_content_length' | 'cut_off';

/**
 * Splits bytes into lines. Only LF ends a line (a CR before it is white space in JSON), since
 * readers differ in which other characters they take for line ends. A line that is too long or not
 * UTF-8 is skipped; the lines after it are read.
 */
export class LineSplitter {
  readonly #text = new Utf8Text();
  #length = 0;
  /** Whether a line has begun. It may be empty. */
  #begun = false;
  #dropping = false;

  constructor(
    readonly onLine: (line: string) => void,
    readonly onSkipped: (reason: Skipped) => void,
    readonly lineBytesMax: number,
  ) {}

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#append(chunk.subarray(start, end));
      this.#finish();
      start = end + 1;
    }
    if (start < chunk.length) this.#append(chunk.subarray(start));
  }

  /** The input has ended. The bytes after the last LF are a line too. */
  end(): void {
    this.#finish();
  }

  #append(part: Buffer): void {
    this.#begun = true;
    if (this.#dropping) return;
    this.#length += part.length;
    if (this.#length > this.lineBytesMax) {
      this.#dropping = true;
      this.#text.drop();
      this.onSkipped('too_long');
      return;
    }
    this.#text.push(part);
  }

  #finish(): void {
    const isLine = this.#begun && !this.#dropping;
    this.#length = 0;
    this.#begun = false;
    this.#dropping = false;
    if (!isLine) return;
    const text = this.#text.take();
    if (text === null) this.onSkipped('not_utf8');
    else this.onLine(text);
  }
}
