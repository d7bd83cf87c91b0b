import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { eachNumber } from '../../base/in-slices.ts';
import type { FileLines } from './file-lines.ts';
import { PatchError } from './patch-error.ts';

/**
 * The most comparisons of lines for one file, about half a second. A normal patch needs a
 * thousandth of that.
 */
const COMPARISONS_MAX = 200_000_000;
/** This many comparisons count as one unit of work. */
const COMPARISONS_A_LINE = 100;

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

/** Lines as numbers: those that are equal after normalizing have equal numbers. */
interface NumberedLines {
  /** The numbers of the file's lines. `UNWANTED`: no run has the line. */
  numbers: Int32Array;
  /** The numbers of the lines of all runs, by their normalized text. */
  byText: ReadonlyMap<string, number>;
}

const UNWANTED = -1;

/**
 * Finds runs of lines in a file. Prefers an exact match anywhere after the start to a looser one.
 */
export class LineSearch {
  readonly #lines: FileLines;
  readonly #wanted: readonly string[];
  readonly #breaks: EventLoopYield;
  readonly #numbered: NumberedLines[] = [];
  #comparisons = 0;

  /**
   * `wanted`: the lines of all runs that will be looked for. Other lines of the file are not
   * remembered.
   */
  constructor(lines: FileLines, wanted: readonly string[], breaks: EventLoopYield) {
    this.#lines = lines;
    this.#wanted = wanted;
    this.#breaks = breaks;
  }

  /**
   * The index of the first line of the run, at `from` or later. With `atEnd` the run must end the
   * file. Returns null if not found.
   */
  async find(
    run: readonly string[],
    { from, atEnd = false }: { from: number; atEnd?: boolean },
  ): Promise<number | null> {
    const start = atEnd ? Math.max(this.#lines.count - run.length, 0) : from;
    if (start < from) return null;
    for (const [index, normalize] of NORMALIZERS.entries()) {
      const { numbers, byText } = await this.#normalized(index, normalize);
      const wanted = run.map((line) => byText.get(normalize(line)) ?? UNWANTED);
      await this.#breaks.worked(run.length);
      const found = wanted.includes(UNWANTED) ? null : await this.#search(numbers, wanted, start);
      if (found !== null) return found;
    }
    return null;
  }

  async #normalized(index: number, normalize: (line: string) => string): Promise<NumberedLines> {
    const known = this.#numbered[index];
    if (known !== undefined) return known;
    const byText = new Map<string, number>();
    const learn = (at: number) => {
      const text = normalize(this.#wanted[at] ?? '');
      if (!byText.has(text)) byText.set(text, byText.size);
    };
    await eachNumber([0, this.#wanted.length], learn, this.#breaks);
    const numbers = new Int32Array(this.#lines.count);
    const number = (at: number) => {
      numbers[at] = byText.get(normalize(this.#lines.text(at))) ?? UNWANTED;
    };
    await eachNumber([0, numbers.length], number, this.#breaks);
    const made = { numbers, byText };
    this.#numbered[index] = made;
    return made;
  }

  /** Knuth-Morris-Pratt: compares no line more than twice, however often the run matches partly. */
  async #search(
    numbers: Int32Array,
    wanted: readonly number[],
    from: number,
  ): Promise<number | null> {
    const borders = bordersOf(wanted);
    let matched = 0;
    let at = from;
    for (; at < numbers.length && matched < wanted.length; at++) {
      while (matched > 0 && wanted[matched] !== numbers[at]) matched = borders[matched - 1] ?? 0;
      if (wanted[matched] === numbers[at]) matched++;
    }
    this.#comparisons += at - from;
    if (this.#comparisons > COMPARISONS_MAX)
      throw new PatchError('the patch has too many changes for a file of this size');
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
  return line
    .replace(DASHES, '-')
    .replace(SINGLE_QUOTES, "'")
    .replace(DOUBLE_QUOTES, '"')
    .replace(BLANKS, ' ');
}
