// @module-tag slow
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { SandboxPolicy } from '../../../src/protocol/generated/types.ts';
import { place } from '../support.ts';
import {
  connected,
  KNOCK,
  type ListeningServer,
  listeningServer,
  requestText,
  statusOf,
  UPGRADE,
} from './listening-server.ts';

const NODE = process.execPath;
const knock = `'${NODE}' '${KNOCK}'`;

/** What a command prints that a client of the server starts. */
async function printed(
  { heddle }: ListeningServer,
  script: string,
  sandboxPolicy: SandboxPolicy,
): Promise<string> {
  const { stdout, stderr } = await heddle.request('command/exec', {
    command: ['/bin/sh', '-c', script],
    sandboxPolicy,
    timeoutMs: 30_000,
  });
  return `${stdout}${stderr}`.trim();
}

const FREE: SandboxPolicy = { type: 'dangerFullAccess' };
const NETWORK: SandboxPolicy = { type: 'workspaceWrite', networkAccess: true };

/** The file descriptor of a connection. */
function descriptorOf(socket: Socket): number {
  return (socket as unknown as { _handle: { fd: number } })._handle.fd;
}

describe('processes', () => {
  test('let a process of the user in', async () => {
    const server = await listeningServer();
    const run = (at: string) => execFileSync(NODE, [KNOCK, at], { encoding: 'utf8' }).trim();
    expect([run(`${server.port}`), run(server.socket)]).toEqual(['101', '101']);
  });

  test.for([
    ['of a command without a sandbox', '@', FREE],
    ['that has cleared its environment', 'env -i @', FREE],
    ['that has left its session', 'setsid @', FREE],
    [
      'whose parents have ended',
      '(env -i setsid @ >out 2>&1 &) ; while [ ! -s out ]; do sleep 0.05; done; cat out',
      FREE,
    ],
    ['with another limit', '(ulimit -S -x 5 || ulimit -S -w 5) 2>/dev/null; env -i setsid @', FREE],
    ['in the sandbox, with network', '@', NETWORK],
    ['in the sandbox, without environment', 'env -i @', NETWORK],
    ['in a user namespace of its own', 'unshare -Ur @', FREE],
  ] as const)('refuse a process %s', async ([, script, policy]) => {
    const server = await listeningServer();
    expect(await printed(server, script.replace('@', `${knock} ${server.port}`), policy)).toBe(
      '403',
    );
  });

  test('show the port to no command without network, and the socket to none', async () => {
    const server = await listeningServer();
    const { port, socket } = server;
    const [closed, masked] = [
      await printed(server, `${knock} ${port}`, { type: 'readOnly' }),
      await printed(server, `${knock} '${socket}'`, NETWORK),
    ];
    expect([closed, masked]).toEqual(['ECONNREFUSED', 'EPERM']);
  });

  test.for([
    ['as it lies', (_: string): string => ''],
    [
      'in a folder that a command has renamed',
      (folder: string): string => `mv '${folder}' '${folder}2'`,
    ],
    ['that a command has linked', (folder: string): string => `ln '${folder}/s' '${folder}/t'`],
  ] as const)('show the socket to no command that may use sockets: %s', async ([, prepare]) => {
    const where = place({ 'config.toml': 'sandbox_workspace_write.unix_sockets = true\n' });
    const server = await listeningServer({ where });
    const folder = dirname(server.socket);
    const open: SandboxPolicy = { ...NETWORK, writableRoots: [dirname(folder)] };
    await printed(server, prepare(folder), open);
    const places = [`${folder}/s`, `${folder}/t`, `${folder}2/s`];
    const answers = await printed(
      server,
      places.map((path) => `${knock} '${path}'`).join(';'),
      open,
    );
    rmSync(`${folder}2`, { recursive: true, force: true });
    const reached = answers.split('\n').filter((answer) => /^\d/.test(answer));
    expect([answers.split('\n').length, reached]).toEqual([3, []]);
  });

  test('refuse the proxy of commands, whatever the configuration opens', async () => {
    const where = place({
      'config.toml': `
sandbox_mode = "workspace-write"
[sandbox_workspace_write]
network_access = true
[features.network_proxy]
allow_local_binding = true
[features.network_proxy.domains]
"127.0.0.1" = "allow"
`,
    });
    const server = await listeningServer({ where });
    const headers = UPGRADE.slice(1).map((header) => `-H '${header}'`);
    const through = `curl -s -o /dev/null -w '%{http_code}' --noproxy '' -p -x "$HTTP_PROXY" ${headers.join(' ')} http://127.0.0.1:${server.port}/`;
    const { stdout } = await server.heddle.request('command/exec', {
      command: ['/bin/sh', '-c', through],
    });
    expect(stdout).toBe('403');
    expect(server.heddle.stderr).toContain('a command that heddle has started has connected');
  });

  test.for([
    ['a command', { HEDDLE_COMMAND: 'x' }, 403],
    ['another program', {}, 101],
  ] as const)('look at all that share a connection: %s', async ([, env, status]) => {
    const { port } = await listeningServer();
    const socket = await connected(port);
    const sharer = spawn('sleep', ['60'], {
      stdio: [descriptorOf(socket), 'ignore', 'ignore'],
      env: { ...env },
    });
    onTestFinished(() => void sharer.kill());
    await once(sharer, 'spawn');
    const other = await connected(port);
    other.destroy();
    socket.write(requestText(UPGRADE));
    const [answer] = await once(socket, 'data');
    socket.destroy();
    expect(statusOf(String(answer))).toBe(status);
  });

  test('refuse other users', async (context) => {
    if (process.getuid?.() !== 0) return context.skip();
    const { port, socket } = await listeningServer();
    const script = `
const { connect } = require('node:net');
process.setuid(65534);
const at = process.argv[1];
const s = connect(/^\\d+$/.test(at) ? { port: Number(at), host: '127.0.0.1' } : at);
s.on('error', ({ code }) => console.log(code));
s.on('connect', () => s.write(${JSON.stringify(requestText(UPGRADE))}));
s.once('data', (data) => { console.log(String(data).split(' ')[1]); s.destroy(); });`;
    const run = (at: string) =>
      execFileSync(NODE, ['-e', script, at], { encoding: 'utf8', cwd: '/' }).trim();
    expect([run(`${port}`), run(socket)]).toEqual(['403', 'EACCES']);
  });
});
