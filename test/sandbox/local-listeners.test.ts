import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { LocalListeners } from '../../src/sandbox/local-listeners.ts';
import { tempFolder } from '../config/temp-folder.ts';
import { FakeClock } from '../support/fake-clock.ts';

const COUNT = 400;

/** Makes connections, sends something on each, and ends, while this process does nothing else. */
function leaveConnections(port: number): void {
  const script = `
    const { connect } = require('node:net');
    let left = ${COUNT};
    for (let index = 0; index < ${COUNT}; index++) {
      connect(${port}, '127.0.0.1').on('connect', function () { this.write('hello', () => --left === 0 && process.exit()); });
    }`;
  expect(spawnSync(process.execPath, ['-e', script]).status).toBe(0);
}

test('connections that were made before another server is set are not passed to it', async () => {
  const listener = await new LocalListeners(systemClock).listen();
  onTestFinished(() => listener.close());
  const passed = { before: 0, after: 0 };
  const counting = (when: keyof typeof passed) => (socket: Socket) => {
    passed[when]++;
    socket.destroy();
  };
  await listener.serve(counting('before'), null);
  leaveConnections(listener.port);
  expect(await listener.serve(null, null)).toBe(COUNT);
  expect(await listener.serve(counting('after'), null)).toBe(0);
  leaveConnections(listener.port);
  expect(await listener.serve(null, null)).toBe(COUNT);
  expect(passed).toEqual({ before: 0, after: 0 });
});

test('a program that does not send a listener in time is given up, though another process holds its output', async () => {
  const clock = new FakeClock();
  const file = join(tempFolder({}), 'pid');
  const received = new LocalListeners(clock).receive(
    ['/bin/sh', '-c', `sleep 1000 & echo $! >${file}; wait`],
    3128,
  );
  const failed = expect(received).rejects.toThrow();
  const pid = () => (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0);
  await expect.poll(pid).toBeGreaterThan(0);
  onTestFinished(() => void process.kill(pid(), 'SIGKILL'));
  clock.advance(10_000);
  await failed;
});
