import { expect, test } from 'vitest';
import { SharedRuns } from '../../../src/base/loading/shared-runs.ts';

/** Runs that end when the test says so. */
function gatedRuns() {
  const ends: ((failure?: Error) => void)[] = [];
  const runs = new SharedRuns(() => {
    const number = ends.length;
    return new Promise<number>((resolve, reject) =>
      ends.push((failure) => (failure === undefined ? resolve(number) : reject(failure))),
    );
  });
  return { runs, ends };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('shares a run that begins after each has asked, and runs one at a time', async () => {
  const { runs, ends } = gatedRuns();
  const early = [runs.get(), runs.get()];
  await settled();
  const late = [runs.get(), runs.get()];
  await settled();
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await settled();
  expect(ends).toHaveLength(2);
  ends[1]?.();
  expect(await Promise.all([...early, ...late])).toEqual([0, 0, 1, 1]);
});

test('goes on after a run that has failed', async () => {
  const { runs, ends } = gatedRuns();
  const first = runs.get();
  await settled();
  const second = runs.get();
  ends[0]?.(new Error('broken'));
  await expect(first).rejects.toThrow('broken');
  await settled();
  ends[1]?.();
  expect(await second).toBe(1);
});
