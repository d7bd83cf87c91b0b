import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { PatchError } from './patch-error.ts';

/** How many lines are compared for one file at most: about half a second. A patch that means well needs a thousandth. */
const COMPARISONS_MAX = 200_000_000;
/** Comparisons that take as long as handling a line in other ways. */
const COMPARISONS_A_LINE = 100;
const LINES_AT_ONCE = 1_000;

/** How two lines may differ and be the same, from strict to loose. */
const LOOKS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) => plainPunctuation(line.trim()),
];

const DASHES = /[\u2010-\u2015\u2212]/g;
const SINGLE_QUOTES = /[\u2018-\u201b]/g;
const DOUBLE_QUOTES = /[\u201c-\u201f]/g;
const BLANKS = /[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g;

/** The lines of a file as numbers, the same for lines that look the same. */
interface NumberedLines {
  numbers: Int32Array;
  byText: ReadonlyMap<string, number>;
}

/** Finds runs of lines in a file: exactly if they are anywhere behind the start, else ever more loosely. */
export class LineSearch {
  readonly #lines: readonly string[];
  readonly #breaks: EventLoopYield;
  readonly #numbered: NumberedLines[] = [];
  #comparisons = 0;

  constructor(lines: readonly string[], breaks: EventLoopYield) {
    this.#lines = lines;
    this.#breaks = breaks;
  }

  /** Where the run begins, at `from` or behind it; null: nowhere. With `atEnd` it has to be the file's last lines. */
  async find(run: readonly string[], { from, atEnd = false }: { from: number; atEnd?: boolean }): Promise<number | null> {
    const start = atEnd ? Math.max(this.#lines.length - run.length, 0) : from;
    if (start < from) return null;
    for (const [index, look] of LOOKS.entries()) {
      const { numbers, byText } = await this.#look(index, look);
      const wanted = run.map((line) => byText.get(look(line)) ?? -1);
      const found = wanted.includes(-1) ? null : await this.#search(numbers, wanted, start);
      if (found !== null) return found;
    }
    return null;
  }

  async #look(index: number, look: (line: string) => string): Promise<NumberedLines> {
    const known = this.#numbered[index];
    if (known !== undefined) return known;
    const byText = new Map<string, number>();
    const numbers = new Int32Array(this.#lines.length);
    for (const [at, line] of this.#lines.entries()) {
      const text = look(line);
      const number = byText.get(text) ?? byText.size;
      byText.set(text, number);
      numbers[at] = number;
      if (at % LINES_AT_ONCE === 0) await this.#breaks.worked(LINES_AT_ONCE);
    }
    const made = { numbers, byText };
    this.#numbered[index] = made;
    return made;
  }

  /** Knuth, Morris and Pratt: no line is compared more than twice, however often the run nearly fits. */
  async #search(numbers: Int32Array, wanted: readonly number[], from: number): Promise<number | null> {
    const borders = bordersOf(wanted);
    let matched = 0;
    let at = from;
    for (; at < numbers.length && matched < wanted.length; at++) {
      while (matched > 0 && wanted[matched] !== numbers[at]) matched = borders[matched - 1] ?? 0;
      if (wanted[matched] === numbers[at]) matched++;
    }
    this.#comparisons += at - from;
    if (this.#comparisons > COMPARISONS_MAX) throw new PatchError('the patch has too many changes for a file of this size');
    await this.#breaks.worked((at - from) / COMPARISONS_A_LINE + wanted.length);
    return matched === wanted.length ? at - wanted.length : null;
  }
}

/** For each beginning of a run: how long its longest end is that begins the run too. */
function bordersOf(run: readonly number[]): number[] {
  const borders = [0];
  let length = 0;
  for (let at = 1; at < run.length; at++) {
    while (length > 0 && run[length] !== run[at]) length = borders[length - 1] ?? 0;
    if (run[length] === run[at]) length++;
    borders.push(length);
  }
  return borders;
}

function plainPunctuation(line: string): string {
  return line.replace(DASHES, '-').replace(SINGLE_QUOTES, "'").replace(DOUBLE_QUOTES, '"').replace(BLANKS, ' ');
}
