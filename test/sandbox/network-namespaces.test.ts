import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type NetworkLease,
  NetworkNamespaces,
} from '../../src/sandbox/linux/network-namespaces.ts';
import type { NetworkNamespace } from '../../src/sandbox/linux/prepare-namespace.ts';
import type { ConfinedCommand } from '../../src/sandbox/sandbox.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { ConfinedWorld } from './confined-world.ts';

const COMMAND: ConfinedCommand = {
  argv: ['true'],
  cwd: '/',
  env: {},
  terminal: false,
  serve: () => {},
};
/** No process has such an id. */
const GONE = 2 ** 30;

let world: ConfinedWorld;

beforeEach(() => {
  world = new ConfinedWorld();
});

afterEach(() => world.close());

function pool({ problem }: { problem?: Error } = {}) {
  const clock = new FakeClock();
  const made: number[] = [];
  const closed: number[] = [];
  /** The namespaces whose listener has ended. */
  const dead = new Set<number>();
  /** How many connections each call of a listener counts. */
  const connections = new Map<number, number>();
  let preparing = 0;
  let mostPreparing = 0;
  const namespaces = new NetworkNamespaces({
    clock,
    async prepare() {
      mostPreparing = Math.max(mostPreparing, ++preparing);
      await setImmediate();
      preparing--;
      if (problem !== undefined) throw problem;
      const net = made.push(made.length + 1);
      const info = openSync(join(world.base, `info-${net}`), 'w+');
      const close = () => {
        closed.push(net);
        closeSync(info);
      };
      const serve = async () => {
        if (dead.has(net)) throw new Error('ended');
        return connections.get(net) ?? 0;
      };
      const namespace: NetworkNamespace = {
        net,
        user: net + 100,
        info,
        listener: { serve, close },
        close,
      };
      return namespace;
    },
  });
  const bounds = world.bounds({ managedNetwork: true });
  return {
    clock,
    made,
    closed,
    dead,
    connections,
    namespaces,
    take: (others = {}) => namespaces.takeFor(COMMAND, { ...bounds, ...others }),
    most: () => mostPreparing,
  };
}

/** The number of the namespace. */
function numberOf(lease: NetworkLease | null): number {
  return Number(/--net=\/proc\/\d+\/fd\/(\d+)/.exec(lease?.enter.join(' ') ?? '')?.[1]);
}

/** Ends the command of a lease, whose init has this process id. */
async function end(lease: NetworkLease | null, init: number | null): Promise<void> {
  if (init !== null) writeSync(lease?.info ?? -1, `{\n    "child-pid": ${init}\n}`);
  lease?.release();
  for (let round = 0; round < 4; round++) await setImmediate();
}

test('a namespace is used again, by one command at a time', async () => {
  const { made, take, namespaces } = pool();
  const first = await take();
  expect(first?.enter.join(' ')).toMatch(
    /nsenter --preserve-credentials --user=\/proc\/\d+\/fd\/101 --net=\/proc\/\d+\/fd\/1 --$/,
  );
  const second = await take();
  expect([numberOf(first), numberOf(second)]).toEqual([1, 2]);
  await end(first, GONE);
  await end(second, GONE);
  expect(made).toEqual([1, 2, 3]);
  const leases = [await take(), await take(), await take()];
  expect(leases.map(numberOf).sort()).toEqual([1, 2, 3]);
  namespaces.close();
});

test('a namespace is not used again while a process of the last command is left, and closed if it stays', async () => {
  const { clock, closed, take, namespaces } = pool();
  const first = await take();
  await end(first, process.pid);
  expect(numberOf(await take())).toBe(2);
  expect(numberOf(await take())).toBe(3);
  while (closed.length === 0) {
    clock.advance(20);
    await setImmediate();
  }
  expect(closed).toEqual([1]);
  expect(clock.monotonic()).toBe(1000);
  namespaces.close();
});

test('a namespace in which connections may still come is closed', async () => {
  const { closed, connections, take, namespaces } = pool();
  connections.set(1, 64);
  connections.set(2, 63);
  const [first, second] = [await take(), await take()];
  await end(first, GONE);
  await end(second, GONE);
  expect(closed).toEqual([1]);
  namespaces.close();
});

test('a namespace of a command that could pass its sockets on is closed', async () => {
  const { closed, take, namespaces } = pool();
  await end(await take({ unixSockets: true }), GONE);
  expect(closed).toEqual([1]);
  namespaces.close();
});

test('a namespace whose command was not started is closed', async () => {
  const { clock, closed, take, namespaces } = pool();
  await end(await take(), null);
  clock.advance(1000);
  await setImmediate();
  expect(closed).toEqual([1]);
  namespaces.close();
});

test('a command that is given up does not wait for its namespace, which another one gets', async () => {
  const { made, closed, namespaces } = pool();
  const bounds = world.bounds({ managedNetwork: true });
  const given = new AbortController();
  const waiting = namespaces.takeFor({ ...COMMAND, signal: given.signal }, bounds);
  given.abort();
  await expect(waiting).rejects.toThrow('The command was cancelled before it started.');
  await expect(namespaces.takeFor({ ...COMMAND, signal: given.signal }, bounds)).rejects.toThrow(
    'cancelled before it started',
  );
  await setImmediate();
  expect([made, closed]).toEqual([[1], []]);
  expect(numberOf(await namespaces.takeFor(COMMAND, bounds))).toBe(1);
  namespaces.close();
});

test('a namespace whose listener has ended is closed, and another one serves the command', async () => {
  const { closed, dead, take, namespaces } = pool();
  await end(await take(), GONE);
  for (const number of [1, 2]) dead.add(number);
  expect(numberOf(await take())).toBe(3);
  expect(closed.sort()).toEqual([1, 2]);
  namespaces.close();
});

test('one is prepared ahead, and few at a time for many commands', async () => {
  const { made, take, namespaces, most } = pool();
  namespaces.prepareAhead();
  namespaces.prepareAhead();
  await setImmediate();
  expect(made).toEqual([1]);
  const leases = await Promise.all(Array.from({ length: 20 }, () => take()));
  expect(new Set(leases.map(numberOf)).size).toBe(20);
  expect(most()).toBe(4);
  namespaces.close();
});

test('a failure is reported to each command that waits', async () => {
  const { take } = pool({ problem: new Error('no namespaces here') });
  const results = await Promise.allSettled(Array.from({ length: 6 }, () => take()));
  expect(results.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 'rejected'));
});

test('bounds without a proxy, and a proxy that nobody serves, need none', async () => {
  const { made, namespaces } = pool();
  expect(await namespaces.takeFor(COMMAND, world.bounds())).toBeNull();
  expect(
    await namespaces.takeFor(
      { ...COMMAND, serve: undefined },
      world.bounds({ managedNetwork: true }),
    ),
  ).toBeNull();
  expect(made).toEqual([]);
});

test('all are closed with the sandbox, and who waits is told', async () => {
  const { made, closed, take, namespaces } = pool();
  const lease = await take();
  const waiting = Promise.allSettled(Array.from({ length: 3 }, () => take()));
  namespaces.close();
  expect((await waiting).every(({ status }) => status === 'rejected')).toBe(true);
  await end(lease, GONE);
  expect(closed.sort()).toEqual(made);
  await expect(take()).rejects.toThrow('the server is ending');
});
