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
