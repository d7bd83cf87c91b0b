import { expect, test } from 'vitest';
import { CallLane } from '../../src/store/sqlite/worker/call-lane.ts';
import { Random } from '../process/hostile/random.ts';

const BYTES_MAX = 1_000;

test.each([1, 2, 3, 4, 5])(
  'calls run in their order, within the bytes of the lane or alone (seed %i)',
  (seed) => {
    const random = new Random(seed);
    const lane = new CallLane<{ number: number; bytes: number }>(BYTES_MAX);
    const taken: number[] = [];
    const running: { number: number; bytes: number }[] = [];
    let added = 0;
    while (added < 500 || running.length > 0 || !lane.isEmpty) {
      for (let count = random.below(8); count > 0 && added < 500; count--)
        lane.add({
          number: added++,
          bytes: random.chance(0.1) ? random.below(5_000) : random.below(300),
        });
      const now = lane.take();
      taken.push(...now.map(({ number }) => number));
      running.push(...now);
      const bytes = running.reduce((sum, call) => sum + call.bytes, 0);
      if (running.filter((call) => call.bytes > 0).length > 1)
        expect(bytes).toBeLessThanOrEqual(BYTES_MAX);
      if (running.length === 0) expect(lane.isEmpty).toBe(true);
      const [ended] = running.splice(random.below(running.length || 1), 1);
      if (ended !== undefined) lane.ended(ended);
    }
    expect(taken).toEqual(Array.from({ length: 500 }, (_, number) => number));
  },
);

test('all calls are taken if that is asked for', () => {
  const lane = new CallLane<{ bytes: number }>(10);
  for (const bytes of [9, 9, 99]) lane.add({ bytes });
  expect(lane.take()).toHaveLength(1);
  expect(lane.take({ all: true })).toHaveLength(2);
  expect(lane.isEmpty).toBe(true);
});
