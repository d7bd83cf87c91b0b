import { expect, test } from 'vitest';
import { Backlog } from '../../src/transport/backlog.ts';

const MEBIBYTE = 1024 * 1024;

/** Whether a backlog is too long after so many messages of this length. */
function isTooLong(count: number, length: number): boolean {
  const backlog = new Backlog({ backlog: 0 });
  for (let index = 0; index < count; index++) backlog.queued(length);
  return backlog.isTooLong;
}

test('a backlog is too long with more than 32,768 messages, or more than 16 MiB', () => {
  expect([isTooLong(32_768, 1), isTooLong(32_769, 1)]).toEqual([false, true]);
  const length = 64 * 1024;
  expect([isTooLong(256, length), isTooLong(257, length)]).toEqual([false, true]);
});

test('a long message counts as 256 KiB of it', () => {
  expect([isTooLong(64, 100 * MEBIBYTE), isTooLong(65, 100 * MEBIBYTE)]).toEqual([false, true]);
});

test('what the system has taken does not count any more', () => {
  const backlog = new Backlog({ backlog: 0 });
  const lengths = [MEBIBYTE, 10, 100];
  for (let round = 0; round < 40_000; round++) {
    for (const length of lengths) backlog.queued(length);
    for (const length of lengths) backlog.written(length);
    backlog.taken(lengths);
  }
  expect(backlog.isTooLong).toBe(false);
});
