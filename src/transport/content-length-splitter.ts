import type { Skipped } from '../base/text/line-splitter.ts';
import { Utf8Text } from '../base/text/utf8-text.ts';
import { LINE_BYTES_MAX } from '../protocol/line-bytes-max.ts';

/** More than any header line has. Only the beginning of a longer line is read. */
const HEADER_LINE_BYTES_MAX = 1024;
const CONTENT_LENGTH = /^content-length:[ \t]*(\d{1,15})[ \t]*$/i;
const LF = 0x0a;

/**
 * Splits bytes in the framing of the Language Server Protocol (3.17, base protocol): header lines,
 * a blank line, and as many bytes as `Content-Length` says. Skips a message that is too long or not
 * UTF-8. Skips a header without a length, and reads the bytes after it as the next header. If
 * messages come as lines instead, reports each line as skipped.
 */
export class ContentLengthSplitter {
  #line: Buffer = Buffer.alloc(0);
  /** The length in the header so far; null if none. */
  #length: number | null = null;
  #headerLines = 0;
  #body: Utf8Text | null = null;
  /** The number of bytes of the body that are still missing. */
  #missing = 0;

  constructor(
    readonly onMessage: (text: string) => void,
    readonly onSkipped: (reason: Skipped) => void,
  ) {}

  push(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0)
      rest = this.#missing > 0 ? this.#takeBody(rest) : this.#takeHeader(rest);
  }

  /** The input has ended. Reports an incomplete message as skipped. */
  end(): void {
    if (this.#missing > 0) {
      if (this.#body !== null) this.onSkipped('cut_off');
    } else {
      this.#takeHeaderLine();
      if (this.#headerLines > 0)
        this.onSkipped(this.#length === null ? 'no_content_length' : 'cut_off');
    }
    this.#startHeader();
    this.#body = null;
    this.#missing = 0;
  }

  /** Takes a header line, or a part of one. Returns the bytes after it. */
  #takeHeader(bytes: Buffer): Buffer {
    const end = bytes.indexOf(LF);
    const part = bytes.subarray(0, end === -1 ? bytes.length : end);
    this.#line = Buffer.concat([
      this.#line,
      part.subarray(0, HEADER_LINE_BYTES_MAX - this.#line.length),
    ]);
    if (end === -1) return bytes.subarray(bytes.length);
    if (!this.#takeHeaderLine()) this.#endHeader();
    return bytes.subarray(end + 1);
  }

  /** Returns false if the line is blank. */
  #takeHeaderLine(): boolean {
    const line = this.#line.toString('latin1').replace(/\r$/, '');
    this.#line = Buffer.alloc(0);
    if (line === '') return false;
    if (line.startsWith('{')) {
      // A message in the other framing: a blank line may never follow.
      this.onSkipped('no_content_length');
      return true;
    }
    this.#headerLines++;
    const [, length] = CONTENT_LENGTH.exec(line) ?? [];
    if (length !== undefined) this.#length = Number(length);
    return true;
  }

  #endHeader(): void {
    const length = this.#length;
    if (length === null && this.#headerLines > 0) this.onSkipped('no_content_length');
    if (length !== null && length > LINE_BYTES_MAX) this.onSkipped('too_long');
    this.#startHeader();
    this.#missing = length ?? 0;
    this.#body = this.#missing > LINE_BYTES_MAX ? null : new Utf8Text();
  }

  #startHeader(): void {
    this.#length = null;
    this.#headerLines = 0;
  }

  /** Takes bytes of the body. Returns the bytes after it. */
  #takeBody(bytes: Buffer): Buffer {
    const part = bytes.subarray(0, this.#missing);
    this.#missing -= part.length;
    this.#body?.push(part);
    if (this.#missing === 0 && this.#body !== null) this.#finish(this.#body);
    return bytes.subarray(part.length);
  }

  #finish(body: Utf8Text): void {
    this.#body = null;
    const text = body.take();
    if (text === null) this.onSkipped('not_utf8');
    else this.onMessage(text);
  }
}
