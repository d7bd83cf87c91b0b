import type { EventLoopYield } from '../../../base/event-loop-yield.ts';

/** The most lines that are compared for a shortest edit script, and the most edits in it. */
const LINES_MAX = 10_000;
const EDITS_MAX = 200;
/**
 * The most comparisons of lines for one diff. After that, no shortest edit script is computed any
 * more.
 */
const STEPS_MAX = 20_000_000;
const STEPS_A_LINE = 20;
const LINES_AT_ONCE = 1_000;
/** Stands for the index of a line that occurs more than once. */
const SEVERAL = -1;

/** Consecutive lines that are in both texts, only in the old one, or only in the new one. */
export interface Run {
  kind: ' ' | '-' | '+';
  count: number;
}

/**
 * Compares two texts by lines. Returns the fewest changes if they are few. Otherwise splits the
 * texts at lines that occur once in each and in the same order, and compares what is in between.
 * Texts without such lines count as changed as a whole.
 */
export async function compareLines(
  old: readonly string[],
  now: readonly string[],
  breaks: EventLoopYield,
): Promise<Run[]> {
  const comparison = new Comparison(await numbered(old, now, breaks), breaks);
  await comparison.compare({ old: [0, old.length], now: [0, now.length] });
  return comparison.runs;
}

/** Lines as numbers: equal lines have equal numbers. */
interface Numbered {
  old: Int32Array;
  now: Int32Array;
}

async function numbered(
  old: readonly string[],
  now: readonly string[],
  breaks: EventLoopYield,
): Promise<Numbered> {
  const known = new Map<string, number>();
  const numbers = async (lines: readonly string[]) => {
    const made = new Int32Array(lines.length);
    for (const [at, line] of lines.entries()) {
      const number = known.get(line) ?? known.size;
      known.set(line, number);
      made[at] = number;
      if (at % LINES_AT_ONCE === 0) await breaks.worked(LINES_AT_ONCE);
    }
    return made;
  };
  return { old: await numbers(old), now: await numbers(now) };
}

/** A range of lines; `to` is not included. */
type Span = readonly [from: number, to: number];

class Comparison {
  readonly runs: Run[] = [];
  readonly #lines: Numbered;
  readonly #breaks: EventLoopYield;
  #steps = 0;

  constructor(lines: Numbered, breaks: EventLoopYield) {
    this.#lines = lines;
    this.#breaks = breaks;
  }

  async compare(spans: { old: Span; now: Span }): Promise<void> {
    const { old, now } = this.#lines;
    let [[oldFrom, oldTo], [nowFrom, nowTo]] = [spans.old, spans.now];
    const [begin, end] = [oldFrom, oldTo];
    while (oldFrom < oldTo && nowFrom < nowTo && old[oldFrom] === now[nowFrom])
      [oldFrom, nowFrom] = [oldFrom + 1, nowFrom + 1];
    while (oldFrom < oldTo && nowFrom < nowTo && old[oldTo - 1] === now[nowTo - 1])
      [oldTo, nowTo] = [oldTo - 1, nowTo - 1];
    this.#put(' ', oldFrom - begin);
    await this.#compareMiddle({ old: [oldFrom, oldTo], now: [nowFrom, nowTo] });
    this.#put(' ', end - oldTo);
  }

  async #compareMiddle({ old, now }: { old: Span; now: Span }): Promise<void> {
    const lines = old[1] - old[0] + now[1] - now[0];
    await this.#breaks.worked(lines);
    const found = lines <= LINES_MAX ? await this.#fewestEdits(old, now) : null;
    if (found !== null) {
      for (const { kind, count } of found) this.#put(kind, count);
      return;
    }
    let [oldFrom, nowFrom] = [old[0], now[0]];
    const anchors = await this.#anchors(old, now);
    for (const [oldAt, nowAt] of anchors) {
      await this.compare({ old: [oldFrom, oldAt], now: [nowFrom, nowAt] });
      this.#put(' ', 1);
      [oldFrom, nowFrom] = [oldAt + 1, nowAt + 1];
    }
    if (anchors.length > 0) return this.compare({ old: [oldFrom, old[1]], now: [nowFrom, now[1]] });
    this.#put('-', old[1] - oldFrom);
    this.#put('+', now[1] - nowFrom);
  }

  /**
   * The shortest edit script. Returns null if a span is empty, or if they are too large or too
   * different.
   */
  async #fewestEdits(old: Span, now: Span): Promise<Run[] | null> {
    if (old[0] === old[1] || now[0] === now[1] || this.#steps > STEPS_MAX) return null;
    const { diffArrays } = await import('diff');
    const [was, is] = [this.#lines.old.subarray(...old), this.#lines.now.subarray(...now)];
    const parts = diffArrays([...was], [...is], { maxEditLength: EDITS_MAX });
    const steps = Math.min(EDITS_MAX, was.length + is.length) ** 2 + was.length + is.length;
    this.#steps += steps;
    await this.#breaks.worked(steps / STEPS_A_LINE);
    return (
      parts?.map(({ added, removed, count }) => ({
        kind: added ? '+' : removed ? '-' : ' ',
        count,
      })) ?? null
    );
  }

  /** The longest sequence of lines that occur once in each span and in the same order. */
  async #anchors(old: Span, now: Span): Promise<Pair[]> {
    const oldPlaces = await this.#onlyPlaces(this.#lines.old, old);
    const nowPlaces = await this.#onlyPlaces(this.#lines.now, now);
    const pairs: Pair[] = [];
    for (let oldAt = old[0]; oldAt < old[1]; oldAt++) {
      if (oldAt % LINES_AT_ONCE === 0) await this.#breaks.worked(LINES_AT_ONCE);
      const number = this.#lines.old[oldAt] ?? 0;
      const nowAt = nowPlaces.get(number) ?? SEVERAL;
      if (oldPlaces.get(number) === oldAt && nowAt !== SEVERAL) pairs.push([oldAt, nowAt]);
    }
    return longestIncrease(pairs, this.#breaks);
  }

  async #onlyPlaces(numbers: Int32Array, [from, to]: Span): Promise<Map<number, number>> {
    const places = new Map<number, number>();
    for (let at = from; at < to; at++) {
      const number = numbers[at] ?? 0;
      places.set(number, places.has(number) ? SEVERAL : at);
      if (at % LINES_AT_ONCE === 0) await this.#breaks.worked(LINES_AT_ONCE);
    }
    return places;
  }

  #put(kind: Run['kind'], count: number): void {
    const last = this.runs.at(-1);
    if (count === 0) return;
    if (last?.kind === kind) last.count += count;
    else this.runs.push({ kind, count });
  }
}

type Pair = readonly [oldAt: number, nowAt: number];

/** The longest subsequence in which `nowAt` increases. `oldAt` increases in `pairs`. */
async function longestIncrease(pairs: readonly Pair[], breaks: EventLoopYield): Promise<Pair[]> {
  /**
   * By length minus 1: the index of the pair that ends the subsequence of that length with the
   * lowest `nowAt`.
   */
  const ends: number[] = [];
  const previous = new Int32Array(pairs.length).fill(-1);
  for (const [index, [, nowAt]] of pairs.entries()) {
    const length = firstNotBelow(nowAt, ends, pairs);
    previous[index] = ends[length - 1] ?? -1;
    ends[length] = index;
    if (index % LINES_AT_ONCE === 0) await breaks.worked(LINES_AT_ONCE);
  }
  const increase: Pair[] = [];
  for (
    let pair = pairs[ends.at(-1) ?? -1], at = ends.at(-1) ?? -1;
    pair !== undefined;
    pair = pairs[at]
  ) {
    increase.push(pair);
    at = previous[at] ?? -1;
  }
  return increase.reverse();
}

/**
 * The index of the first end whose `nowAt` is not below the given one. The ends are sorted by
 * `nowAt`.
 */
function firstNotBelow(nowAt: number, ends: readonly number[], pairs: readonly Pair[]): number {
  let [low, high] = [0, ends.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pairs[ends[middle] ?? 0]?.[1] ?? 0) < nowAt) low = middle + 1;
    else high = middle;
  }
  return low;
}
