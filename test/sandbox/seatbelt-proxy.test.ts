import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { checkedDial } from '../../src/network/checked-dial.ts';
import { CommandProxy } from '../../src/network/command-proxy.ts';
import { SocketBudget } from '../../src/network/socket-budget.ts';
import type { SandboxBounds } from '../../src/policy/permissions/sandbox-bounds.ts';
import { createSeatbelt } from '../../src/sandbox/macos/create-seatbelt.ts';
import { startWebServer } from '../network/proxied.ts';
import { curl } from '../support/curl.ts';
import { RecordingLog } from '../support/recording-log.ts';
import { ConfinedWorld } from './confined-world.ts';

// The tests do not run on a Mac: they use the proxy of a command as its environment describes it,
// without the sandbox.

let world: ConfinedWorld;

beforeEach(() => {
  world = new ConfinedWorld();
});

afterEach(() => world.close());

async function confine(bounds: Partial<SandboxBounds>) {
  const { installation } = world.sandboxDeps();
  const proxy = new CommandProxy({
    clock: systemClock,
    log: new RecordingLog(),
    dial: checkedDial({ clock: systemClock }),
    socks: true,
    budget: new SocketBudget(),
    decide: async () => ['public', 'private'],
  });
  onTestFinished(() => proxy.close());
  const command = {
    argv: ['true'],
    cwd: world.workspace,
    env: {},
    terminal: false,
    serve: proxy.serve.bind(proxy),
  };
  return createSeatbelt({ installation, program: '/usr/bin/sandbox-exec' }).confine(
    command,
    world.bounds(bounds),
  );
}

test('on macOS, a command reaches its proxy with its own credential only', async () => {
  const { port } = await startWebServer();
  const url = `http://127.0.0.1:${port}/`;
  const [one, other] = [
    await confine({ managedNetwork: true }),
    await confine({ managedNetwork: true }),
  ];
  const { HTTP_PROXY: proxy = '' } = one.env;
  const socks = proxy.replace('http:', 'socks5h:');
  expect(proxy).toMatch(/^http:\/\/heddle:[\w-]{32}@127\.0\.0\.1:\d+$/);
  expect(await curl(url, proxy)).toBe('200 0');
  expect(await curl(url, socks)).toBe('200 0');
  const theft = new URL(other.env.HTTP_PROXY ?? '');
  theft.port = new URL(proxy).port;
  for (const attempt of [
    theft.href,
    `http://127.0.0.1:${theft.port}`,
    `http://heddle:@127.0.0.1:${theft.port}`,
  ]) {
    expect(await curl(url, attempt)).toBe('407 0');
  }
  expect(await curl(url, socks.replace(/:[\w-]+@/, ':wrong@'))).toMatch(/^000 (?!0)/);
  await Promise.all([one.release(), other.release()]);
  expect(await curl(url, proxy)).toBe('000 7');
});

test('on macOS, the profile of such a command is that of one without network', async () => {
  const [managed, none] = [await confine({ managedNetwork: true }), await confine({})];
  expect(managed.argv).toEqual(none.argv);
  expect(none.env).toEqual({});
  await Promise.all([managed.release(), none.release()]);
});
