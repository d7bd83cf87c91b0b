import { expect, test } from 'vitest';
import { turnOfEventLoop } from '../../../src/tools/command/network/turn-of-event-loop.ts';

const CALLERS = 200;

function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test('callers that come at once go on one after another, some in each round of the event loop', async () => {
  const rounds: number[] = [0];
  let ended = false;
  const look = () => {
    rounds.push(0);
    if (!ended) setImmediate(look);
  };
  const order: number[] = [];
  setImmediate(look);
  const callers = Array.from({ length: CALLERS }, async (_, index) => {
    await turnOfEventLoop();
    work(1);
    order.push(index);
    rounds[rounds.length - 1] = (rounds.at(-1) ?? 0) + 1;
  });
  await Promise.all(callers);
  ended = true;
  expect(order).toEqual(Array.from({ length: CALLERS }, (_, index) => index));
  expect(Math.max(...rounds)).toBeLessThanOrEqual(6);
});
