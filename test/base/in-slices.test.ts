import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventLoopYield } from '../../src/base/event-loop-yield.ts';
import {
  eachLine,
  eachNumber,
  inSlices,
  joinParts,
  resultOf,
  slicesOf,
} from '../../src/base/in-slices.ts';

test('all values come in their order, and other work goes on between those that are much work', async () => {
  let rounds = 0;
  let isOver = false;
  const counting = (async () => {
    while (!isOver) {
      await setImmediate();
      rounds++;
    }
  })();
  const seen: number[] = [];
  const roundsAt: number[] = [];
  for await (const value of inSlices([1, 2, 3, 4], (value) => (value === 2 ? 5_000 : 0))) {
    seen.push(value);
    roundsAt.push(rounds);
  }
  isOver = true;
  await counting;
  expect(seen).toEqual([1, 2, 3, 4]);
  expect(roundsAt[2]).toBeGreaterThan(roundsAt[1] ?? 0);
});

test('the slices of a text, of bytes and of a list are the whole, each of the length but the last', () => {
  const whole = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.integer()),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  );
  fc.assert(
    fc.property(whole, fc.integer({ min: 1, max: 5 }), (all, length) => {
      const slices: ArrayLike<unknown>[] = [...slicesOf(all, length)];
      expect(slices.flatMap((slice) => Array.from({ ...slice, length: slice.length }))).toEqual(
        Array.from({ ...(typeof all === 'string' ? all.split('') : all), length: all.length }),
      );
      expect(slices.slice(0, -1).every((slice) => slice.length === length)).toBe(true);
    }),
    { seed: 1, numRuns: 30 },
  );
});

test('walkers visit every number and every line once, however many there are', async () => {
  const breaks = new EventLoopYield();
  for (const count of [0, 1, 999, 1_000, 1_001, 12_345]) {
    const wanted = Array.from({ length: count }, (_, at) => `${at}\n`);
    const numbers: number[] = [];
    await eachNumber([7, 7 + count], (at) => numbers.push(at - 7), breaks);
    expect(numbers.map((at) => `${at}\n`)).toEqual(wanted);
    const text = `${wanted.join('')}end`;
    const lines: string[] = [];
    await eachLine(text, (from, to) => lines.push(text.slice(from, to)), breaks);
    expect(lines).toEqual([...wanted, 'end']);
    const work = function* () {
      const made: string[] = [];
      for (const line of wanted) {
        made.push(line);
        yield;
      }
      return made;
    };
    expect(await resultOf(work(), breaks)).toEqual(wanted);
    expect(await joinParts(wanted, breaks)).toBe(wanted.join(''));
  }
});
