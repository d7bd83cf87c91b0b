import { expect, test } from 'vitest';
import { firstRequestId } from '../../src/server/pending-requests.ts';

const NOW = Date.UTC(2026, 10, 28);
const DAY_MS = 24 * 60 * 60 * 1000;
const INT32_MAX = 2 ** 31 - 1;

test('the ids of a server that begins a second later are beyond those of a thousand questions', () => {
  const first = firstRequestId(NOW);
  expect(firstRequestId(NOW + 1000) - first).toBeGreaterThan(1000);
});

test('the ids of a day leave room within 32 bits, at any time', () => {
  for (let day = 0; day < 50; day++) {
    const first = firstRequestId(NOW + day * DAY_MS);
    expect(Number.isInteger(first)).toBe(true);
    expect(first).toBeGreaterThanOrEqual(0);
    expect(first + 1000).toBeLessThanOrEqual(INT32_MAX);
  }
});
