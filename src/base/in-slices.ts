import { EventLoopYield } from './event-loop-yield.ts';

/**
 * The values of a list, or those that a generator makes, with other work in between: for long work
 * that is a loop. `units`: how much work a value is (see `EventLoopYield`). `breaks`: that of the
 * work that the loop is a part of.
 */
export async function* inSlices<Value>(
  values: Iterable<Value>,
  units: number | ((value: Value) => number),
  breaks = new EventLoopYield(),
): AsyncGenerator<Value, void, void> {
  for (const value of values) {
    yield value;
    await breaks.worked(typeof units === 'number' ? units : units(value));
  }
}

/** The parts of a list, a text or bytes, each `length` long, the last one perhaps shorter. */
export function* slicesOf<Whole extends string | Buffer | readonly unknown[]>(
  whole: Whole,
  length: number,
): Generator<Whole, void, void> {
  for (let from = 0; from < whole.length; from += length) {
    const to = from + length;
    yield (Buffer.isBuffer(whole) ? whole.subarray(from, to) : whole.slice(from, to)) as Whole;
  }
}

/** Steps that run at once: well below a millisecond of ordinary work on lines. */
const STEPS_AT_ONCE = 1_000;

/**
 * Calls `step` until it returns false, with other work in between: for long work whose steps are
 * too short to await each. `units`: how much work a step is.
 */
async function repeatSteps(step: () => boolean, breaks: EventLoopYield, units = 1): Promise<void> {
  for (let count = 1; step(); count++)
    if (count % STEPS_AT_ONCE === 0) await breaks.worked(STEPS_AT_ONCE * units);
}

/** Calls `visit` with each number from `from` to below `to`. As `repeatSteps`. */
export async function eachNumber(
  [from, to]: readonly [from: number, to: number],
  visit: (at: number) => void,
  breaks: EventLoopYield,
): Promise<void> {
  for (let at = from; at < to; ) {
    const [start, end] = [at, Math.min(at + STEPS_AT_ONCE, to)];
    while (at < end) visit(at++);
    await breaks.worked(end - start);
  }
}

/**
 * Calls `visit` with the start and the end of each line of a text, the line end included. As
 * `repeatSteps`.
 */
export async function eachLine(
  text: string,
  visit: (from: number, to: number) => void,
  breaks: EventLoopYield,
  units = 1,
): Promise<void> {
  let from = 0;
  const step = () => {
    if (from >= text.length) return false;
    const to = text.indexOf('\n', from) + 1 || text.length;
    visit(from, to);
    from = to;
    return true;
  };
  await repeatSteps(step, breaks, units);
}

/** The result of work that yields after each short step. As `repeatSteps`. */
export async function resultOf<Result>(
  work: Generator<void, Result, void>,
  breaks: EventLoopYield,
): Promise<Result> {
  let last = work.next();
  await repeatSteps(() => {
    if (!last.done) last = work.next();
    return !last.done;
  }, breaks);
  return (last as IteratorReturnResult<Result>).value;
}

/** A text of parts. To join them is long work that cannot be divided: other work runs first. */
export async function joinParts(parts: readonly string[], breaks: EventLoopYield): Promise<string> {
  await breaks.yielded();
  return parts.join('');
}
