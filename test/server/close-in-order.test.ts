import { expect, test } from 'vitest';
import { closeInOrder } from '../../src/server/close-in-order.ts';

test('parts are closed in stages, also after some have failed; the first failure is told at the end', async () => {
  const closed: string[] = [];
  const part = (name: string, problem?: string) => async () => {
    closed.push(name);
    await Promise.resolve();
    if (problem !== undefined) throw new Error(problem);
  };
  const throwing = () => {
    closed.push('c');
    throw new Error('third');
  };
  const all = closeInOrder([part('a'), part('b', 'second')], [throwing], [part('d')]);
  await expect(all).rejects.toThrow('second');
  expect(closed).toEqual(['a', 'b', 'c', 'd']);
  await closeInOrder([part('e')], []);
});
