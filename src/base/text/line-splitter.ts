import { isUtf8 } from 'node:buffer';

/** The maximum length of a message. A longer one is dropped, and no more than this much of it is kept in memory. */
export const LINE_BYTES_MAX = 32 * 1024 * 1024;

const LF = 0x0a;

/** Why a message was skipped. */
export type Skipped = 'too_long' | 'not_utf8' | 'no_content_length' | 'cut_off';

/**
 * Splits bytes into lines. Only LF ends a line (a CR before it is white space in JSON), since readers differ in which other
 * characters they take for line ends. A line that is too long or not UTF-8 is skipped; the lines after it are read.
 */
export class LineSplitter {
  #parts: Buffer[] = [];
  #length = 0;
  #dropping = false;

  constructor(
    readonly onLine: (line: string) => void,
    readonly onSkipped: (reason: Skipped) => void,
    readonly lineBytesMax: number = LINE_BYTES_MAX,
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
    if (this.#dropping) return;
    this.#length += part.length;
    if (this.#length > this.lineBytesMax) {
      this.#dropping = true;
      this.#parts = [];
      this.onSkipped('too_long');
      return;
    }
    this.#parts.push(part);
  }

  #finish(): void {
    const dropped = this.#dropping;
    const [first, ...rest] = this.#parts;
    this.#parts = [];
    this.#length = 0;
    this.#dropping = false;
    if (dropped || first === undefined) return;
    const bytes = rest.length === 0 ? first : Buffer.concat([first, ...rest]);
    if (isUtf8(bytes)) this.onLine(bytes.toString('utf8'));
    else this.onSkipped('not_utf8');
  }
}
