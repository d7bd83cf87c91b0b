// @module-tag slow
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { actionHash } from '../../../src/agent/guardian/action-hash.ts';
import { transcript } from '../../../src/agent/guardian/transcript.ts';
import { EventLoopYield } from '../../../src/base/event-loop-yield.ts';
import type { ResponseItem } from '../../../src/protocol/generated/types.ts';
import { asked } from '../../support/test-model.ts';

/** How many rounds of the event loop pass during some work. */
async function roundsDuring(work: Promise<unknown>): Promise<number> {
  let rounds = 0;
  let isDone = false;
  const count = async () => {
    while (!isDone) {
      await setImmediate();
      rounds++;
    }
  };
  const counted = count();
  await work;
  isDone = true;
  await counted;
  return rounds;
}

test('other work goes on while a large action is hashed', async () => {
  const planned = {
    tool: 'apply_patch',
    changes: [{ path: 'a', diff: '+a line of code\n'.repeat(1_000_000) }],
  };
  expect(await roundsDuring(actionHash(planned, new EventLoopYield()))).toBeGreaterThan(3);
});

test('the hash of an action depends on all of it, and not on the order of its keys', async () => {
  const breaks = new EventLoopYield();
  const hash = (value: object) => actionHash(value as never, breaks);
  expect(await hash({ a: 1, b: ['x', { c: null, d: true }] })).toBe(
    await hash({ b: ['x', { d: true, c: null }], a: 1 }),
  );
  const others = [
    { a: '1' },
    { a: 1 },
    { a: ['1'] },
    { a: { 0: '1' } },
    { b: '1' },
    { a: '1', b: null },
    { a: `${'y'.repeat(100_000)}\u{1f600}` },
  ];
  expect(new Set(await Promise.all(others.map(hash))).size).toBe(others.length);
});

test('other work goes on while the transcript of a long history is made, and each of its lines is made once for all reviews', async () => {
  let masked = 0;
  const mask = (text: string) => {
    masked++;
    const until = performance.now() + 2;
    while (performance.now() < until);
    return text;
  };
  const items = Array.from(
    { length: 50_000 },
    (_, index): ResponseItem =>
      index % 2 === 0
        ? asked('z'.repeat(2_000))
        : { type: 'function_call_output', call_id: `c${index}`, output: 'y'.repeat(2_000) },
  );
  const history = items.map((item) => ({ item, author: null }));
  const options = {
    mask,
    charsMax: 100_000,
    goal: null,
    known: new WeakMap(),
    breaks: new EventLoopYield(),
  };
  expect(await roundsDuring(transcript(history, options))).toBeGreaterThan(10);
  expect(masked).toBeLessThan(60);
  const before = masked;
  const reviews = Array.from({ length: 32 }, () => transcript(history, options));
  expect(new Set(await Promise.all(reviews)).size).toBe(1);
  expect(masked).toBe(before);
});
