import { spawn } from 'node:child_process';
import { describe, expect, onTestFinished, test } from 'vitest';
import { markingArgv, ProcessMarks } from '../../src/sandbox/processes/process-mark.ts';
import { OPEN, openListener, PORT, WITH_TOKEN } from './listening-server.ts';
import { RawConnection, UPGRADE } from './raw-connection.ts';

const ADDRESSES = [PORT, 'ws://[::1]:0', 'ws://127.1.2.3:0', 'ws://[::ffff:127.0.0.1]:0'];
const ACCEPTED = { status: 101, text: '' };
const refused = (problem: string) => ({ status: 403, text: `${problem}: use a token (--ws-auth)` });
const OF_COMMAND = refused('a command that heddle has started has connected');
const OTHER_USER = refused('another user has connected');
const UNKNOWN = refused('the process at the other end cannot be identified');

const HEADERS = ['GET / HTTP/1.1', 'Host: 127.0.0.1', ...UPGRADE, '', ''].join('\r\n');
/** Connects, and prints the answer. */
const SCRIPT = `
  const { hostname, port } = new URL(process.argv[1]);
  const socket = require('node:net').connect(port, hostname.replace(/^\\[|\\]$/g, ''));
  let text = '';
  socket.write(${JSON.stringify(HEADERS)});
  socket.on('data', (data) => {
    text += data;
    if (/^HTTP.1.1 101 /.test(text) && text.includes('\\r\\n\\r\\n')) socket.end();
  });
  socket.on('close', () => process.stdout.write(text));`;
const PROGRAM = [process.execPath, '-e', SCRIPT];

interface Way {
  argv: readonly string[];
  env?: Record<string, string>;
  uid?: number;
}

/** The answer to a process of its own. */
async function answerTo(address: string, { argv, env = {}, uid }: Way) {
  const [program = '', ...args] = [...argv, address];
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
  await new Promise((resolve) => child.once('close', resolve));
  const [head = '', text = ''] = output.split('\r\n\r\n');
  return { status: Number(/^HTTP\/1\.1 (\d+) /.exec(head)?.[1] ?? 0), text };
}

/** Runs a program below a shell that stays. */
const below = (program: readonly string[]) => [
  '/bin/sh',
  '-c',
  '"$@"; exit "$?"',
  'sh',
  ...program,
];
/** Runs a program below a shell that ends at once: it has no parent but the first process. */
const orphaned = (program: readonly string[]) => ['/bin/sh', '-c', '"$@" &', 'sh', ...program];
const UNMARKED = ['/usr/bin/env', '-u', 'HEDDLE_COMMAND'];
const MARK = { HEDDLE_COMMAND: 'of-another-server-1' };
const limited = () => markingArgv(new ProcessMarks(undefined).next(), undefined);

test.each(ADDRESSES)('%s: a process of this user may connect', async (bound) => {
  const { address } = await openListener(bound, { admission: OPEN });
  expect(await answerTo(address, { argv: PROGRAM })).toEqual(ACCEPTED);
});

test('a process of this user below others may, whatever its variables are', async () => {
  const { address } = await openListener(PORT, { admission: OPEN });
  const ways = [
    { argv: below(below(PROGRAM)) },
    { argv: orphaned(PROGRAM) },
    { argv: PROGRAM, env: { OTHER: 'HEDDLE_COMMAND=x', HEDDLE_COMMANDS: 'x' } },
  ];
  const answers = ways.map((way) => answerTo(address, way));
  expect(await Promise.all(answers)).toEqual(ways.map(() => ACCEPTED));
});

describe('a process of a command may not', () => {
  test.each<[string, () => Way]>([
    ['with the mark in its environment', () => ({ argv: PROGRAM, env: MARK })],
    ['with an empty mark', () => ({ argv: PROGRAM, env: { HEDDLE_COMMAND: '' } })],
    ['with the mark in its limits', () => ({ argv: [...limited(), ...PROGRAM] })],
    [
      'below one with the mark in its environment',
      () => ({ argv: below([...UNMARKED, ...below(PROGRAM)]), env: MARK }),
    ],
    [
      'whose parent has ended',
      () => ({ argv: [...limited(), ...UNMARKED, ...orphaned(PROGRAM)], env: MARK }),
    ],
    [
      'in a session of its own',
      () => ({ argv: [...limited(), 'setsid', '--wait', ...UNMARKED, ...PROGRAM] }),
    ],
    [
      'among other processes, as in a sandbox',
      () => ({ argv: ['unshare', '--user', '--map-root-user', '--pid', '--fork', ...PROGRAM] }),
    ],
  ])('%s', async (_, way) => {
    const { address, refused: texts } = await openListener(PORT, { admission: OPEN });
    expect(await answerTo(address, way())).toEqual(OF_COMMAND);
    expect(texts()).toEqual([OF_COMMAND.text]);
  });
});

test.runIf(process.getuid?.() === 0)('a process of another user may not', async () => {
  const { address } = await openListener(PORT, { admission: OPEN });
  expect(await answerTo(address, { argv: PROGRAM, uid: 65_534 })).toEqual(OTHER_USER);
});

test('one that has closed its side may not: nothing tells whose it was', async () => {
  const { address } = await openListener(PORT, { admission: OPEN });
  const raw = new RawConnection(address);
  raw.socket.end(HEADERS);
  await raw.closed;
  const [head = '', text] = raw.received.toString().split('\r\n\r\n');
  expect({ status: Number(head.split(' ')[1]), text }).toEqual(UNKNOWN);
});

test('with a token, a process of a command may connect', async () => {
  const { address } = await openListener(PORT, { admission: WITH_TOKEN });
  const withToken = SCRIPT.replace('Host: ', 'Authorization: Bearer abc\\r\\nHost: ');
  const argv = [process.execPath, '-e', withToken];
  expect(await answerTo(address, { argv, env: MARK })).toEqual(ACCEPTED);
  expect(await answerTo(address, { argv: PROGRAM, env: MARK })).toEqual({
    status: 401,
    text: 'missing websocket bearer token',
  });
});
