import { cutText } from '../../../base/text/cut-text.ts';

/** Parts shorter than this are joined with the next one. */
const PART_CHARS_MIN = 4096;

/**
 * A growing string of which only the beginning and the end are kept. Lengths are in UTF-16 code
 * units.
 */
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

  /** The size of everything that was appended, in bytes of UTF-8. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The number of lines that were appended, including an unfinished last line. */
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
   * The whole string. If it is longer than `charsMax`: its beginning and its end, with `marker` in
   * between, which takes the number of code units that are not shown. Never shows half a surrogate
   * pair.
   */
  text(charsMax: number, marker: (leftOut: number) => string): string {
    if (this.#length <= charsMax && this.#head.length + this.#tailLength === this.#length)
      return this.#head + this.#tail.join('');
    const half = Math.min(this.#halfMax, Math.floor(charsMax / 2));
    const begin = cutText(this.#head, half);
    const end = this.#end(half).replace(/^[\uDC00-\uDFFF]/, '');
    return begin + marker(this.#length - begin.length - end.length) + end;
  }

  /** The last `chars` code units, or fewer if the string is shorter. */
  #end(chars: number): string {
    if (chars === 0) return '';
    let from = this.#tail.length;
    for (let length = 0; from > 0 && length < chars; from--)
      length += this.#tail[from - 1]?.length ?? 0;
    const tail = this.#tail.slice(from).join('');
    return tail.length < chars ? (this.#head + tail).slice(-chars) : tail.slice(-chars);
  }

  get #endsLine(): boolean {
    return this.isEmpty || (this.#tail.at(-1) ?? this.#head).endsWith('\n');
  }

  #appendTail(text: string): void {
    const last = this.#tail.at(-1);
    if (last !== undefined && last.length < PART_CHARS_MIN)
      this.#tail[this.#tail.length - 1] = last + text;
    else this.#tail.push(text);
    this.#tailLength += text.length;
    for (
      let first = this.#tail[0];
      first !== undefined && this.#tailLength - first.length >= this.#halfMax;
      first = this.#tail[0]
    ) {
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
