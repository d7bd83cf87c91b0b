import { expect, test } from 'vitest';
import { UselessMessages } from '../../src/mcp/host/useless-messages.ts';

test('noise is told at most once a second, cut, and too much of it is said to be', () => {
  const told: string[] = [];
  const noise = new UselessMessages((problem) => told.push(problem));
  const results = Array.from({ length: 10_002 }, () => noise.add('😀'.repeat(1_000)));
  expect(told).toEqual(['😀'.repeat(250)]);
  expect([results.indexOf(true), results.filter((isTooMuch) => isTooMuch).length]).toEqual([
    10_001, 1,
  ]);
});
