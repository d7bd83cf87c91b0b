import { expect, test } from 'vitest';
import { KeyedQueue, SerialQueue } from '../../src/base/keyed-queue.ts';

test('a task of several keys waits for those before it, whose keys may occur twice, and those behind it wait for it', async () => {
  const queue = new KeyedQueue();
  const order: string[] = [];
  const task = (name: string) => async () => {
    await Promise.resolve();
    order.push(name);
    return name;
  };
  const all = [
    queue.run('a', task('a')),
    queue.runAll(['a', 'b', 'a'], task('a and b')),
    queue.runAll(['b', 'b'], task('b')),
    queue.runAll([], task('none')),
    queue.run('a', task('last')),
  ];
  expect(await Promise.all(all)).toEqual(['a', 'a and b', 'b', 'none', 'last']);
  expect(order.indexOf('a and b')).toBeGreaterThan(order.indexOf('a'));
  expect(order.indexOf('b')).toBeGreaterThan(order.indexOf('a and b'));
  expect(order.indexOf('last')).toBeGreaterThan(order.indexOf('a and b'));
  expect(queue.tail('a')).toBeNull();
});

test('tasks of a serial queue run one after another, also behind one that fails', async () => {
  const queue = new SerialQueue();
  const order: string[] = [];
  const task = (name: string) => async () => {
    order.push(`${name} begins`);
    await Promise.resolve();
    order.push(`${name} ends`);
    if (name === 'b') throw new Error(name);
    return name;
  };
  const all = ['a', 'b', 'c'].map((name) => queue.run(task(name)));
  const idle = queue.idle().then(() => order.push('idle'));
  expect(await Promise.allSettled(all)).toEqual([
    { status: 'fulfilled', value: 'a' },
    { status: 'rejected', reason: new Error('b') },
    { status: 'fulfilled', value: 'c' },
  ]);
  await idle;
  expect(order).toEqual([
    ...['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'],
    'idle',
  ]);
});
