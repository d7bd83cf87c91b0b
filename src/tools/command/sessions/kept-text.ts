import { cutText } from '../../../base/cut-text.ts';

/** The longest part that is kept by itself; shorter ones are put together. */
const PART_CHARS_MIN = 4096;

/** A text that grows without end, of which the beginning and the end are kept. Lengths are in UTF-16 units. */
export class KeptText {
  readonly #halfMax: number;
  #head = '';
  #tail: string[] = [];
  #tailLength = 0;
  #length = 0;
  #lines = 0;
  #bytes = 0;

  constructor(charsMax: number) {
    this.#halfMax = Math.ceil(charsMax / 2);
  }

  /** Of all that was appended, in bytes of UTF-8. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many lines were appended, the last one though it may not have ended. */
  get lines(): number {
    return this.#lines + (this.#endsLine ? 0 : 1);
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  append(text: string): void {
    this.#length += text.length;
    this.#bytes += Buffer.byteLength(text);
    this.#lines += countLineEnds(text);
    const room = this.#halfMax - this.#head.length;
    this.#head += text.slice(0, room);
    if (text.length > room) this.#appendTail(text.slice(Math.max(0, room)));
  }

  /**
   * The text, or of one longer than `charsMax` its two ends with `marker` between, which is told how many units are not
   * shown. No half of a surrogate pair is.
   */
  text(charsMax: number, marker: (leftOut: number) => string): string {
    if (this.#length <= charsMax && this.#head.length + this.#tailLength === this.#length) return this.#head + this.#tail.join('');
    const half = Math.min(this.#halfMax, Math.floor(charsMax / 2));
    const begin = cutText(this.#head, half);
    const end = this.#end(half).replace(/^[\uDC00-\uDFFF]/, '');
    return begin + marker(this.#length - begin.length - end.length) + end;
  }

  /** So many units at the end, or as many as there are. */
  #end(chars: number): string {
    if (chars === 0) return '';
    let from = this.#tail.length;
    for (let length = 0; from > 0 && length < chars; from--) length += this.#tail[from - 1]?.length ?? 0;
    const tail = this.#tail.slice(from).join('');
    return tail.length < chars ? (this.#head + tail).slice(-chars) : tail.slice(-chars);
  }

  get #endsLine(): boolean {
    return this.isEmpty || (this.#tail.at(-1) ?? this.#head).endsWith('\n');
  }

  #appendTail(text: string): void {
    const last = this.#tail.at(-1);
    if (last !== undefined && last.length < PART_CHARS_MIN) this.#tail[this.#tail.length - 1] = last + text;
    else this.#tail.push(text);
    this.#tailLength += text.length;
    for (let first = this.#tail[0]; first !== undefined && this.#tailLength - first.length >= this.#halfMax; first = this.#tail[0]) {
      this.#tail.shift();
      this.#tailLength -= first.length;
    }
  }
}

function countLineEnds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
