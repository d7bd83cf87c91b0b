import { expect, test } from 'vitest';
import { paced } from '../../src/mcp/paced.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { nextRound } from '../support/settled.ts';

test('work runs at once, then at most once in its time, and one at a time', async () => {
  const clock = new FakeClock();
  const ends: (() => void)[] = [];
  const { ask } = paced(() => new Promise((resolve) => ends.push(() => resolve(true))), {
    everyMs: 1_000,
    clock,
  });
  ask();
  ask();
  clock.advance(5_000);
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await nextRound();
  expect(ends).toHaveLength(2);
  ends[1]?.();
  await nextRound();
  ask();
  ask();
  expect(ends).toHaveLength(2);
  clock.advance(999);
  expect(ends).toHaveLength(2);
  clock.advance(1);
  expect(ends).toHaveLength(3);
  ends[2]?.();
  await nextRound();
  clock.advance(5_000);
  expect([ends.length, clock.timers]).toEqual([3, []]);
});

test('work that waits is not done after clear', async () => {
  const clock = new FakeClock();
  let count = 0;
  const { ask, clear } = paced(async () => count++ >= 0, { everyMs: 1_000, clock });
  ask();
  await nextRound();
  ask();
  expect(clock.timers).toEqual([1_000]);
  clear();
  expect([clock.timers, count]).toEqual([[], 1]);
  ask();
  clock.advance(1_000);
  expect(count).toBe(2);
});

test('work that has failed is tried again after growing waits, and at once when it is asked for', async () => {
  const clock = new FakeClock();
  let count = 0;
  let isDone = false;
  const work = async () => {
    count++;
    return isDone;
  };
  const { ask, clear } = paced(work, { everyMs: 10, clock });
  ask();
  await nextRound();
  for (const waitMs of [1_000, 2_000, 4_000]) {
    expect(clock.timers).toEqual([waitMs]);
    clock.advance(waitMs);
    await nextRound();
  }
  expect([count, clock.timers]).toEqual([4, [8_000]]);
  clock.advance(100);
  ask();
  await nextRound();
  expect([count, clock.timers]).toEqual([5, [16_000]]);
  clear();
  expect(clock.timers).toEqual([]);
  isDone = true;
  clock.advance(100);
  ask();
  await nextRound();
  expect([count, clock.timers]).toEqual([6, []]);
});
