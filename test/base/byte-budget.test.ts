import { expect, test } from 'vitest';
import { ByteBudget } from '../../src/base/byte-budget.ts';

test('tasks wait in their order while others hold the bytes', async () => {
  const budget = new ByteBudget(10);
  const order: string[] = [];
  const first = await budget.take(6);
  const large = budget.take(8).then((end) => {
    order.push('large');
    return end;
  });
  const small = budget.take(1).then((end) => {
    order.push('small');
    return end;
  });
  await Promise.resolve();
  expect(order).toEqual([]);
  first();
  first();
  (await large)();
  await small;
  expect(order).toEqual(['large', 'small']);
});

test('a task that needs more than there is gets it alone', async () => {
  const budget = new ByteBudget(10);
  const first = await budget.take(1);
  let isBegun = false;
  const huge = budget.take(100).then((end) => {
    isBegun = true;
    return end;
  });
  await Promise.resolve();
  expect(isBegun).toBe(false);
  first();
  (await huge)();
  (await budget.take(10))();
});
