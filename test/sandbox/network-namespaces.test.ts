import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { SandboxBounds } from '../../src/policy/permissions/sandbox-bounds.ts';
import { NetworkNamespaces } from '../../src/sandbox/linux/network-namespaces.ts';
import type { NetworkNamespace } from '../../src/sandbox/linux/prepare-namespace.ts';
import type { ConfinedCommand } from '../../src/sandbox/sandbox.ts';
import { FakeClock } from '../support/fake-clock.ts';

const BOUNDS: SandboxBounds = {
  readable: 'everything',
  writableRoots: [],
  network: false,
  managedNetwork: true,
  unixSockets: false,
  workspace: [],
  unprotected: [],
  home: '/home',
};
const COMMAND: ConfinedCommand = { argv: ['true'], cwd: '/', env: {}, terminal: false, serve: () => {} };

function pool() {
  const clock = new FakeClock();
  const made: number[] = [];
  const closed: number[] = [];
  const namespaces = new NetworkNamespaces({
    clock,
    async prepare() {
      const net = made.push(made.length + 1);
      const namespace: NetworkNamespace = { net, user: net + 100, onConnection: () => {}, close: () => closed.push(net) };
      return namespace;
    },
  });
  return { clock, made, closed, namespaces };
}

test('a namespace is used again, by one command at a time, once every process of the last one is gone', async () => {
  const { clock, made, namespaces } = pool();
  const first = await namespaces.takeFor(COMMAND, BOUNDS);
  expect(first?.enter.join(' ')).toMatch(/nsenter --preserve-credentials --user=\/proc\/\d+\/fd\/101 --net=\/proc\/\d+\/fd\/1 --$/);
  await setImmediate();
  expect(made).toEqual([1, 2]);
  const second = await namespaces.takeFor(COMMAND, BOUNDS);
  expect(second?.enter.at(-2)).toMatch(/fd\/2$/);
  first?.release();
  await setImmediate();
  await setImmediate();
  clock.advance(1000);
  const third = await namespaces.takeFor(COMMAND, BOUNDS);
  expect(['1', '3']).toContain(third?.enter.at(-2)?.split('/').at(-1));
});

test('bounds without a proxy, and a proxy that nobody serves, need none', async () => {
  const { made, namespaces } = pool();
  expect(await namespaces.takeFor(COMMAND, { ...BOUNDS, managedNetwork: false })).toBeNull();
  expect(await namespaces.takeFor({ ...COMMAND, serve: undefined }, BOUNDS)).toBeNull();
  expect(made).toEqual([]);
});

test('all are closed with the sandbox', async () => {
  const { made, closed, namespaces } = pool();
  const lease = await namespaces.takeFor(COMMAND, BOUNDS);
  await setImmediate();
  namespaces.close();
  lease?.release();
  await setImmediate();
  await setImmediate();
  expect(closed.sort()).toEqual(made);
});
