import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { monotonicMs } from '../../src/base/clock.ts';
import { EventLoopYield } from '../../src/base/event-loop-yield.ts';
import { mayStart } from '../../src/base/processes/spawn-program.ts';

/**
 * How often `work` goes on in each round of the event loop, until `count` pieces of it have ended.
 */
async function inRounds(
  count: number,
  work: (index: number, wentOn: () => void) => Promise<void>,
): Promise<number[]> {
  const rounds: number[] = [];
  let now = 0;
  let left = count;
  const all = Array.from({ length: count }, (_, index) =>
    work(index, () => now++).finally(() => left--),
  );
  while (left > 0) {
    await setImmediate();
    rounds.push(now);
    now = 0;
  }
  await Promise.all(all);
  return rounds.filter((times) => times > 0);
}

test('long work of different objects takes turns: one piece goes on in each round of the event loop', async () => {
  const rounds = await inRounds(20, async (_index, wentOn) => {
    const breaks = new EventLoopYield();
    for (let times = 0; times < 5; times++) {
      await breaks.yielded();
      wentOn();
    }
  });
  expect(Math.max(...rounds)).toBe(1);
  expect(rounds).toHaveLength(100);
});

/** Works for so many milliseconds or longer. */
function busyFor(ms: number): void {
  for (const untilMs = monotonicMs() + ms; monotonicMs() < untilMs; );
}

test('work after a pause goes on at once', async () => {
  const breaks = new EventLoopYield();
  await breaks.worked(1);
  busyFor(6);
  await setImmediate();
  await setImmediate();
  let goesOn = false;
  void breaks.worked(1).then(() => {
    goesOn = true;
  });
  for (let time = 0; time < 5; time++) await Promise.resolve();
  expect(goesOn).toBe(true);
  await setImmediate();
});

test('long work that is due shares the rounds of the event loop: some milliseconds in each', async () => {
  const inOrder: number[] = [];
  const inPieces = (ms: number) => async (index: number, wentOn: () => void) => {
    const own = new EventLoopYield();
    for (let times = 0; times < 2; times++) {
      await own.worked(10_000);
      inOrder.push(index);
      wentOn();
      busyFor(ms);
    }
  };
  const short = await inRounds(40, inPieces(1));
  const order = Array.from({ length: 40 }, (_, index) => index);
  expect(inOrder).toEqual([...order, ...order]);
  expect(Math.max(...short)).toBeGreaterThan(1);
  expect(Math.max(...short)).toBeLessThanOrEqual(6);
  expect(Math.max(...(await inRounds(10, inPieces(6))))).toBe(1);
});

test('one piece of long work goes on once in a round of the event loop, however short its parts are', async () => {
  const own = new EventLoopYield();
  const rounds = await inRounds(1, async (_index, wentOn) => {
    for (let times = 0; times < 20; times++) {
      await own.worked(10_000);
      wentOn();
    }
  });
  expect(rounds).toEqual(Array.from({ length: 20 }, () => 1));
});

test('two programs may start in each round of the event loop, in their order', async () => {
  await setImmediate();
  const started: number[] = [];
  const rounds = await inRounds(9, async (index, wentOn) => {
    await mayStart();
    started.push(index);
    wentOn();
  });
  expect(started).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  // The first two start at once, and the next ones in the same round.
  expect(rounds).toEqual([4, 2, 2, 1]);
});
