// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type SpawnOptions, spawnServer } from '../../src/client/spawn-server.ts';
import { CLIENT_INFO } from '../support/test-client.ts';
import { environment, place } from './support.ts';

const root = dirname(dirname(import.meta.dirname));

/** A client of a server that is some JavaScript. */
function running(code: string, options: SpawnOptions = {}) {
  const client = spawnServer({ command: process.execPath, args: ['-e', code], ...options });
  onTestFinished(async () => {
    await client.kill();
  });
  return client;
}

/** Resolves when no process has this id any more. */
async function gone(pid: number): Promise<void> {
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), { timeout: 15_000 });
}

test('by default it is heddle, in the home and the folder that are given', async () => {
  const where = place();
  const { HEDDLE_HOME: _home, ...env } = environment(where);
  const log: string[] = [];
  const client = spawnServer({
    home: where.home,
    cwd: where.work,
    env,
    onStderr: (text) => log.push(text),
  });
  const { serverInfo } = await client.initialize({ clientInfo: CLIENT_INFO });
  expect(serverInfo.name).toBe('heddle');
  const { thread } = await client.request('thread/start');
  expect(thread.cwd).toBe(where.work);
  expect((await client.turn({ threadId: thread.id, input: 'say Hello.' }).result).text).toBe(
    'Hello.',
  );
  expect(existsSync(join(where.home, 'heddle.db'))).toBe(true);
  await client.close();
  expect(await client.exit).toEqual({ code: 0, signal: null });
  expect(log).toEqual([]);
});

describe('a server that is gone tells whoever waits why:', () => {
  test('its exit code, and the end of its log', async () => {
    const log: string[] = [];
    const code =
      "process.stdin.once('data', () => { console.error('x'.repeat(5000)); console.error('no disk'); process.exitCode = 3; process.stdin.destroy() })";
    const client = running(code, { onStderr: (text) => log.push(text) });
    const waiting = [
      client.request('thread/list'),
      client.turn({ threadId: 'a', input: 'b' }).result,
    ];
    const events = client.events();
    for (const promise of waiting) {
      await expect(promise).rejects.toMatchObject({
        name: 'ConnectionError',
        message: expect.stringMatching(
          /the server exited \(exit code 3\); the end of its log:\nx+\nno disk$/,
        ),
      });
    }
    await expect(events.next()).rejects.toThrow(/exit code 3/);
    await expect(client.request('thread/list')).rejects.toThrow(
      /^thread\/list: the server exited \(exit code 3\)/,
    );
    expect(await client.exit).toEqual({ code: 3, signal: null });
    expect(log.join('')).toBe(`${'x'.repeat(5000)}\nno disk\n`);
    await client.close();
  });

  test('the signal that killed it', async () => {
    const client = running('process.stdin.resume()');
    const answer = client.request('thread/list');
    expect(await client.kill()).toEqual({ code: null, signal: 'SIGKILL' });
    await expect(answer).rejects.toThrow('thread/list: the server exited (SIGKILL)');
    expect(await client.kill()).toEqual({ code: null, signal: 'SIGKILL' });
  });

  test('that it could not be started', async () => {
    const client = spawnServer({ command: join(root, 'no-such-server') });
    const message = `initialize: the server could not be started: spawn ${join(root, 'no-such-server')} ENOENT`;
    await expect(client.initialize({ clientInfo: CLIENT_INFO })).rejects.toThrow(message);
    expect(client.pid).toBeUndefined();
    expect(await client.exit).toEqual({ code: null, signal: null });
    await client.close();
  });

  test.each<[string, SpawnOptions, string]>([
    [
      'its folder is not there',
      { cwd: '/no/such/folder' },
      'its working directory is not a directory: /no/such/folder',
    ],
    [
      'its folder is a file',
      { cwd: import.meta.filename },
      `its working directory is not a directory: ${import.meta.filename}`,
    ],
    [
      'its folder lies in a file',
      { cwd: join(import.meta.filename, 'a') },
      `its working directory is not a directory: ${import.meta.filename}/a`,
    ],
    ['its command is empty', { command: '' }, "The argument 'file' cannot be empty. Received ''"],
    ['its environment is too large', { env: { LARGE: 'x'.repeat(2 ** 22) } }, 'spawn E2BIG'],
    [
      'an argument has a zero byte',
      { args: ['a\0b'] },
      "The argument 'args[1]' must be a string without null bytes. Received 'a\\x00b'",
    ],
  ])('that it could not be started because %s', async (_why, options, reason) => {
    const client = spawnServer(options);
    const error = {
      name: 'ConnectionError',
      message: `initialize: the server could not be started: ${reason}`,
    };
    await expect(client.initialize({ clientInfo: CLIENT_INFO })).rejects.toMatchObject(error);
    expect(client.pid).toBeUndefined();
    expect(await client.kill()).toEqual({ code: null, signal: null });
    await client.close();
    await client.closed;
  });

  test('that it has closed its output, though it lives on: it is ended then', {
    timeout: 30_000,
  }, async () => {
    const client = running(
      "require('node:fs').closeSync(1); new MessageChannel().port1.onmessage = () => {}",
    );
    await expect(client.request('thread/list')).rejects.toThrow('the server exited (SIGTERM)');
  });
});

test('close() ends a server that neither ends with its input nor minds SIGTERM', {
  timeout: 30_000,
}, async () => {
  const client = running(
    'process.on(\'SIGTERM\', () => {}); new MessageChannel().port1.onmessage = () => {}; process.stdout.write(\'{"method":"warning","params":{}}\\n\')',
  );
  await client.notifications('warning').next();
  await client.close();
  expect(await client.exit).toEqual({ code: null, signal: 'SIGKILL' });
});

test('pipes that a process of the server holds open do not hold up the end', async () => {
  const grandchild =
    "require('node:child_process').spawn('sleep', ['60'], { stdio: 'inherit', detached: true })";
  const client = running(
    `const { pid } = ${grandchild}; console.log(JSON.stringify({ method: 'warning', params: { pid } })); process.stdin.resume()`,
  );
  const { value } = await client.notifications('warning').next();
  const { pid } = value as unknown as { pid: number };
  onTestFinished(() => {
    process.kill(pid);
  });
  process.kill(client.pid ?? 0);
  await expect(client.request('thread/list')).rejects.toThrow('the server exited (SIGTERM)');
});

test.each([
  ['process.exit(0)', 0],
  ["throw new Error('a fault')", 1],
])('a process that ends with %s takes its server with it', async (end, exitCode) => {
  const server =
    "process.on('SIGTERM', () => {}); process.stdin.on('end', () => {}); new MessageChannel().port1.onmessage = () => {}";
  const code = `
    import { spawnServer } from 'heddle/client';
    const { pid } = spawnServer({ command: process.execPath, args: ['-e', ${JSON.stringify(server)}] });
    process.stdout.write(String(pid), () => { ${end} });`;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let pid = '';
  parent.stdout.on('data', (text: Buffer) => {
    pid += String(text);
  });
  expect(await once(parent, 'close')).toEqual([exitCode, null]);
  await gone(Number(pid));
});
