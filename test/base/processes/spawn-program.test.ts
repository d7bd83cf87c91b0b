import { EventEmitter } from 'node:events';
import { expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { runToEnd, spawnProgram } from '../../../src/base/processes/spawn-program.ts';
import { spawnServer } from '../../../src/client/spawn-server.ts';
import { LocalListeners } from '../../../src/sandbox/local-listeners.ts';
import { Pipes } from '../../../src/sandbox/processes/pipes.ts';
import { ProcessStartError } from '../../../src/sandbox/processes/processes.ts';
import { spawnChild } from '../../../src/sandbox/processes/spawn-child.ts';

/**
 * What `spawn` does once no file descriptors are left: a child without pipes, whose `error` comes
 * later.
 */
vi.mock('node:child_process', async (actual) => ({
  ...(await actual<typeof import('node:child_process')>()),
  spawn: () => {
    const child = new EventEmitter();
    process.nextTick(() =>
      child.emit('error', Object.assign(new Error('spawn EMFILE'), { code: 'EMFILE' })),
    );
    return child;
  },
}));

const CHILD = {
  argv: ['true'],
  cwd: '/',
  env: {},
  stdio: ['pipe', 'pipe', 'pipe'],
  hidden: new Set<number>(),
} as const;

// An `error` event that nobody hears is an uncaught exception, which fails the test run.
test.each([
  ['a program', async () => spawnProgram('true', [], {}), 'no file descriptors'],
  ['a command', () => spawnChild(CHILD), ProcessStartError],
  [
    'the sender of a listener',
    () => new LocalListeners(systemClock).receive(['true'], 1),
    'no file descriptors',
  ],
])('without file descriptors, the start of %s fails by itself', async (_what, start, error) => {
  await expect(start()).rejects.toThrow(error);
});

test('without file descriptors, a client reports that its server never started', async () => {
  expect(await spawnServer({ cwd: '/' }).exit).toEqual({ code: null, signal: null });
});

test('without file descriptors, no pipes are made, and Node’s own are used', async () => {
  expect(await new Pipes('linux').take(['reads', 'writes'])).toBeNull();
});

test('a program that runs to its end rejects if it is missing', async () => {
  await expect(runToEnd('/missing', [])).rejects.toThrow('ENOENT');
});
