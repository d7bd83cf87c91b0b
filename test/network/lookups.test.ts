import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { checkedDial } from '../../src/network/checked-dial.ts';
import { FakeClock } from '../support/fake-clock.ts';

/**
 * A dial whose names are resolved, all to an address that may not be reached, when the test says
 * so.
 */
function dialing() {
  const clock = new FakeClock();
  const running: { name: string; answer: () => void }[] = [];
  const begun: string[] = [];
  const dial = checkedDial({
    clock,
    resolve: (name) =>
      new Promise((resolve) => {
        begun.push(name);
        running.push({ name, answer: () => resolve(['127.0.0.1']) });
      }),
  });
  const proxy = () => {
    const closing = new AbortController();
    const reach = (host: string) =>
      dial({ host, port: 443, protocol: 'https' }, ['public'], closing.signal).then(
        () => 'connected',
        (error: Error) => error.message,
      );
    return { reach, close: () => closing.abort() };
  };
  const answerOne = async () => {
    running.shift()?.answer();
    for (let round = 0; round < 3; round++) await setImmediate();
  };
  return { clock, running, begun, proxy, answerOne };
}

test('the names of a closed proxy are not resolved any more', async () => {
  const { begun, proxy, answerOne } = dialing();
  const [hostile, other] = [proxy(), proxy()];
  const given = Array.from({ length: 100 }, (_, index) => hostile.reach(`${index}.example`));
  await setImmediate();
  expect(begun).toEqual(['0.example', '1.example']);
  hostile.close();
  expect(new Set(await Promise.all(given))).toEqual(new Set(['aborted']));
  const reached = other.reach('other.example');
  await setImmediate();
  expect(begun).toEqual(['0.example', '1.example', 'other.example']);
  for (let count = 0; count < 3; count++) await answerOne();
  expect(begun).toHaveLength(3);
  expect(await reached).toBe('other.example leads to the local address 127.0.0.1.');
});

test('a proxy that wants many names does not hold up those of another', async () => {
  const { begun, proxy, answerOne } = dialing();
  const [busy, other] = [proxy(), proxy()];
  for (let index = 0; index < 100; index++) void busy.reach(`${index}.example`);
  await setImmediate();
  void other.reach('a.other');
  void other.reach('b.other');
  await setImmediate();
  for (let count = 0; count < 4; count++) await answerOne();
  expect(begun.slice(0, 6)).toEqual([
    '0.example',
    '1.example',
    'a.other',
    '2.example',
    '3.example',
    'b.other',
  ]);
});

test('a name is resolved once for all that wait for it, also if the first does not wait any more', async () => {
  const { begun, proxy, answerOne } = dialing();
  const [first, second, third] = [proxy(), proxy(), proxy()];
  for (const name of ['x.example', 'y.example']) void third.reach(name);
  void second.reach('z.example');
  void first.reach('a.example');
  const waits = second.reach('a.example');
  await setImmediate();
  first.close();
  for (let count = 0; count < 4; count++) await answerOne();
  expect(await waits).toContain('local address');
  expect(begun.filter((name) => name === 'a.example')).toHaveLength(1);
});

test('a proxy gets no more names than fit its part of the queue, and the others still do', async () => {
  const { proxy } = dialing();
  const [busy, other] = [proxy(), proxy()];
  const given = Array.from({ length: 300 }, (_, index) => busy.reach(`${index}.example`));
  const refused = await Promise.race(given);
  expect(refused).toBe('Too many names are being resolved.');
  const waits = other.reach('other.example');
  expect(await Promise.race([waits, setImmediate('waits')])).toBe('waits');
});
