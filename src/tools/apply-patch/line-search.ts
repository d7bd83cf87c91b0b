import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { PatchError } from './patch-error.ts';

/** The most comparisons of lines for one file, about half a second. A normal patch needs a thousandth of that. */
const COMPARISONS_MAX = 200_000_000;
/** This many comparisons count as one unit of work. */
const COMPARISONS_A_LINE = 100;
const LINES_AT_ONCE = 1_000;

/** Lines match if they are equal after one of these, from strict to loose. */
const NORMALIZERS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) => plainPunctuation(line.trim()),
];

const DASHES = /[\u2010-\u2015\u2212]/g;
const SINGLE_QUOTES = /[\u2018-\u201b]/g;
const DOUBLE_QUOTES = /[\u201c-\u201f]/g;
const BLANKS = /[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g;

/** The lines of a file as numbers: lines that are equal after normalizing have equal numbers. */
interface NumberedLines {
  numbers: Int32Array;
  byText: ReadonlyMap<string, number>;
}

/** Finds runs of lines in a file. Prefers an exact match anywhere after the start to a looser one. */
export class LineSearch {
  readonly #lines: readonly string[];
  readonly #breaks: EventLoopYield;
  readonly #numbered: NumberedLines[] = [];
  #comparisons = 0;

  constructor(lines: readonly string[], breaks: EventLoopYield) {
    this.#lines = lines;
    this.#breaks = breaks;
  }

  /** The index of the first line of the run, at `from` or later. With `atEnd` the run must end the file. Returns null if not found. */
  async find(run: readonly string[], { from, atEnd = false }: { from: number; atEnd?: boolean }): Promise<number | null> {
    const start = atEnd ? Math.max(this.#lines.length - run.length, 0) : from;
    if (start < from) return null;
    for (const [index, normalize] of NORMALIZERS.entries()) {
      const { numbers, byText } = await this.#normalized(index, normalize);
      const wanted = run.map((line) => byText.get(normalize(line)) ?? -1);
      const found = wanted.includes(-1) ? null : await this.#search(numbers, wanted, start);
      if (found !== null) return found;
    }
    return null;
  }

  async #normalized(index: number, normalize: (line: string) => string): Promise<NumberedLines> {
    const known = this.#numbered[index];
    if (known !== undefined) return known;
    const byText = new Map<string, number>();
    const numbers = new Int32Array(this.#lines.length);
    for (const [at, line] of this.#lines.entries()) {
      const text = normalize(line);
      const number = byText.get(text) ?? byText.size;
      byText.set(text, number);
      numbers[at] = number;
      if (at % LINES_AT_ONCE === 0) await this.#breaks.worked(LINES_AT_ONCE);
    }
    const made = { numbers, byText };
    this.#numbered[index] = made;
    return made;
  }

  /** Knuth-Morris-Pratt: compares no line more than twice, however often the run matches partly. */
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

/** For each prefix of a run: the length of its longest proper suffix that is also a prefix. */
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
