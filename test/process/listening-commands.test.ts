import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { UPGRADE } from '../listen/raw-connection.ts';
import { shortPath } from '../listen/short-path.ts';
import { socketClient } from '../listen/socket-client.ts';
import { startListening } from './listening.ts';
import { type Place, place } from './support.ts';

const HEADERS = ['GET / HTTP/1.1', 'Host: 127.0.0.1', ...UPGRADE, '', ''].join('\r\n');
/** Connects to each address, one after another, and prints what came of it. */
const PROBE = `
  const { connect } = require('node:net');
  const tried = (address) => new Promise((resolve) => {
    const url = address.startsWith('ws:') ? new URL(address) : null;
    const socket = url === null
      ? connect(address.slice('unix://'.length))
      : connect(url.port, url.hostname);
    socket.on('error', () => resolve('no connection'));
    socket.on('data', (data) => {
      resolve(String(data).split(' ')[1]);
      socket.destroy();
    });
    socket.write(${JSON.stringify(HEADERS)});
  });
  (async () => {
    const told = [];
    for (const address of process.argv.slice(2)) told.push(await tried(address));
    console.log(told.join(', '));
  })();`;

/** Runs the probe as a process of the user, for comparison. */
async function probed(
  { work }: Place,
  addresses: string[],
  env: Record<string, string> = {},
): Promise<string> {
  const child = spawn(process.execPath, ['probe.cjs', ...addresses], {
    cwd: work,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  await new Promise((resolve) => child.once('close', resolve));
  return output.trim();
}

const WORKSPACE = { sandboxPolicy: { type: 'workspaceWrite', networkAccess: true } } as const;

test('a command of a turn can connect neither to a port nor to the sockets, wherever they are', async () => {
  const where = place({
    'config.toml': 'model_provider = "scripted"\napproval_policy = "never"\n',
  });
  // The home of a test would make the path of its socket too long.
  const home = join(shortPath(dirname(where.home)), 'home');
  const [own, temp] = [join(where.work, 'sockets', 's'), join(where.temp, 's')];
  mkdirSync(dirname(own), { mode: 0o700 });
  const custom = [own, temp].map((path) => `unix://${path}`);
  const { ports } = await startListening(where, ['ws://127.0.0.1:0', 'unix://', ...custom], {
    env: { HEDDLE_HOME: home },
  });
  const [port = ''] = ports;
  const sockets = ['unix://../home/app-server-control/app-server-control.sock', ...custom];
  writeFileSync(join(where.work, 'probe.cjs'), PROBE);
  expect(await probed(where, [port, ...sockets])).toBe('101, 101, 101, 101');

  const client = await socketClient(port);
  /** What a command of a turn is told. */
  const outcome = async (addresses: string[], overrides: object) => {
    const { thread } = await client.request('thread/start', {});
    const cmd = [process.execPath, 'probe.cjs', ...addresses].join(' ');
    const turn = await client.turn(
      thread.id,
      `call exec_command ${JSON.stringify({ cmd, login: false })}`,
      overrides,
    );
    const [ran] = client.notifications(
      'item/completed',
      ({ turnId, item }) => turnId === turn.id && item.type === 'commandExecution',
    );
    return ran?.item.type === 'commandExecution' ? ran.item.aggregatedOutput?.trim() : null;
  };
  const none = 'no connection';
  expect(await outcome([port, ...sockets], WORKSPACE)).toBe(`403, ${none}, ${none}, ${none}`);
  // Without a sandbox a command can do all that its user can, except to connect to a port.
  expect(await outcome([port], { sandboxPolicy: { type: 'dangerFullAccess' } })).toBe('403');
  // So can a command of the client.
  const { stdout } = await client.request('command/exec', {
    command: [process.execPath, 'probe.cjs', port, ...sockets],
    cwd: where.work,
    ...WORKSPACE,
  });
  expect(stdout.trim()).toBe(`403, ${none}, ${none}, ${none}`);
});

test('a server that a command has started is for the processes of that command, and for those of the user', async () => {
  const where = place();
  const own = { HEDDLE_COMMAND: 'of-another-server-1' };
  const { ports } = await startListening(where, ['ws://127.0.0.1:0'], { env: own });
  writeFileSync(join(where.work, 'probe.cjs'), PROBE);
  const outcomes = [own, {}, { HEDDLE_COMMAND: 'of-this-server-1 of-another-server-1' }].map(
    (env) => probed(where, ports, env),
  );
  expect(await Promise.all(outcomes)).toEqual(['101', '101', '403']);
});
