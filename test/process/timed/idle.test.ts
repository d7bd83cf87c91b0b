// @module-tag slow
import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { answered, ProviderServer } from '../../model/provider-server.ts';
import { type HeddleProcess, place, providerToml, startHeddle } from '../support.ts';

const MIB = 1.048576;
const INITIALIZED_MIB_MAX = 80;
const WATCHED_MS = 2_000;
const TICKS_MAX = 2;

function isWatchdog(pid: string): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes('heddle-watchdog');
}

/** Looks at the server until it has not worked for two seconds in a row. */
async function expectRest(heddle: HeddleProcess): Promise<void> {
  let restingSince = performance.now();
  let before = heddle.ticks();
  await vi.waitFor(
    () => {
      const now = heddle.ticks();
      if (now - before > TICKS_MAX) [before, restingSince] = [now, performance.now()];
      expect(performance.now() - restingSince).toBeGreaterThan(WATCHED_MS);
    },
    { timeout: 15_000, interval: 250 },
  );
}

test(`resident memory after initialize is under ${INITIALIZED_MIB_MAX} MiB`, async () => {
  const heddle = await startHeddle(place());
  expect(heddle.memory().now / MIB).toBeLessThan(INITIALIZED_MIB_MAX);
});

test('after a session the server uses no processor time and has started no process that stays, besides its watchdog', async () => {
  await using provider = await ProviderServer.start(answered);
  const heddle = await startHeddle(place({ 'config.toml': providerToml(provider.port) }));
  for (let count = 0; count < 3; count++) {
    const { thread } = await heddle.request('thread/start', {});
    await heddle.turn(thread.id, 'hello');
  }
  await expectRest(heddle);
  // It was started with the shell whose variables commands get.
  expect(heddle.children().filter((pid) => !isWatchdog(pid))).toEqual([]);
  expect(await provider.openConnections()).toBeLessThanOrEqual(1);
});

test('before a session, too', async () => {
  const heddle = await startHeddle(place(), { handshake: false });
  await expectRest(heddle);
  expect(heddle.children()).toEqual([]);
});
