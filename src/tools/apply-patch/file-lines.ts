import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { eachLine } from '../../base/in-slices.ts';

const LINES_AT_FIRST = 1_000;

/** A line and its line end. The line end is empty for a last line without one. */
export interface TextLine {
  text: string;
  end: '\n' | '\r\n' | '';
}

/**
 * The lines of a text. Only their places are kept, because objects for 400,000 lines keep the
 * garbage collector busy for 30 ms.
 */
export class FileLines {
  readonly count: number;
  readonly #text: string;
  /** The index at which each line starts. */
  readonly #starts: Uint32Array;

  private constructor(text: string, starts: Uint32Array) {
    this.#text = text;
    this.#starts = starts;
    this.count = starts.length;
  }

  /** Splits a text into lines. A lone CR does not end a line. */
  static async of(text: string, breaks: EventLoopYield): Promise<FileLines> {
    let starts = new Uint32Array(LINES_AT_FIRST);
    let count = 0;
    const add = (start: number) => {
      if (count === starts.length) starts = enlarged(starts);
      starts[count++] = start;
    };
    await eachLine(text, add, breaks);
    return new FileLines(text, starts.subarray(0, count));
  }

  /** The index in the text at which a line starts. After the last line: the length of the text. */
  start(index: number): number {
    return this.#starts[index] ?? this.#text.length;
  }

  /** A line, without its end. */
  text(index: number): string {
    return this.#text.slice(this.start(index), this.start(index + 1) - this.end(index).length);
  }

  end(index: number): TextLine['end'] {
    const after = this.start(index + 1);
    if (this.#text[after - 1] !== '\n') return '';
    return after - this.start(index) > 1 && this.#text[after - 2] === '\r' ? '\r\n' : '\n';
  }

  line(index: number): TextLine {
    return { text: this.text(index), end: this.end(index) };
  }
}

function enlarged(numbers: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(numbers.length * 2);
  larger.set(numbers);
  return larger;
}
