import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SocketClient, socketClient } from '../listen/socket-client.ts';
import {
  answered,
  completed,
  created,
  ProviderServer,
  type Reply,
  sse,
} from '../model/provider-server.ts';
import { Gate } from '../support/gate.ts';
import { text } from '../support/test-client.ts';
import { startListening } from './listening.ts';
import { EXECUTABLE, environment, type Place, place, providerToml } from './support.ts';

const WS = 'ws://127.0.0.1:0';

/** Runs a server that does not come to listen, to its end. */
async function ending(where: Place, args: string[]) {
  const child = spawn(process.execPath, [EXECUTABLE, 'app-server', ...args], {
    cwd: where.work,
    env: environment(where),
    // The end of stdin would end it.
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (read: string) => (stdout += read));
  child.stderr.setEncoding('utf8').on('data', (read: string) => (stderr += read));
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}

test('a server listens on several addresses beside stdio, and goes on without stdin', async () => {
  const where = place();
  const path = join(where.work, 'socket');
  const addresses = [WS, 'ws://[::1]:0', `unix://${path}`, 'stdio://'];
  const { heddle, ports } = await startListening(where, addresses);
  expect(heddle.stderr.replace(/:[1-9]\d*(?=[/\n])/g, ':PORT')).toBe(
    ['127.0.0.1', '[::1]']
      .map(
        (host) =>
          `heddle app-server\n  listening on: ws://${host}:PORT\n  health: http://${host}:PORT/healthz\n`,
      )
      .join(''),
  );
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await heddle.initialize();
  const clients = await Promise.all([...ports, `unix://${path}`].map((one) => socketClient(one)));
  const { thread } = await heddle.request('thread/start', {});
  heddle.input.end();
  const [first] = clients as [SocketClient];
  const connections = async () => {
    const { gauges } = await first.request('server/diagnostics', {});
    return gauges.find(({ name }) => name === 'app.connections.open')?.value;
  };
  await expect.poll(connections).toBe(clients.length);
  expect((await first.request('thread/loaded/list', {})).data).toEqual([thread.id]);
  for (const client of clients) await client.request('thread/loaded/list', {});
  clients.push(await socketClient(`unix://${path}`));
  heddle.signal('SIGTERM');
  expect(await heddle.exit).toEqual({ code: 0, signal: null });
  expect(await Promise.all(clients.map(({ closed }) => closed))).toEqual(
    clients.map(() => ({ code: 1001, reason: '' })),
  );
  expect(readdirSync(where.work)).toEqual([]);
});

test('without stdio, stdin and stdout are left alone', async () => {
  const { heddle, ports } = await startListening(place(), [WS, 'off']);
  heddle.send(
    JSON.stringify({
      id: 1,
      method: 'initialize',
      params: { clientInfo: { name: 'x', version: '1' } },
    }),
  );
  heddle.input.end();
  const client = await socketClient(ports[0] ?? '');
  await client.request('thread/loaded/list', {});
  expect(heddle.lines).toEqual([]);
});

describe('a server does not start', () => {
  test('that could have no client', async () => {
    expect(await ending(place(), ['--listen', 'off'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'heddle: with --listen off alone, no client can connect: use another address too\n',
    });
  });

  test('on a port or a path that is in use, beside others that are not', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    const where = place();
    const free = join(where.work, 'free');
    const used = ['--listen', `unix://${free}`, '--listen', `ws://127.0.0.1:${port}`];
    expect(await ending(where, used)).toEqual({
      code: 1,
      stdout: '',
      stderr: `heddle: ws://127.0.0.1:${port} is already in use by another program\n`,
    });
    expect(existsSync(free)).toBe(false);
    const path = join(where.work, 'socket');
    await startListening(where, [`unix://${path}`]);
    expect(await ending(place(), ['--listen', `unix://${path}`])).toEqual({
      code: 1,
      stdout: '',
      stderr: `heddle: ${path} is already in use by another server\n`,
    });
  });

  test.each<[string, string[], (where: Place) => string]>([
    [
      'where another file is',
      ['--listen', 'unix://file'],
      ({ work }) => `${work}/file exists and is not a socket`,
    ],
    [
      'on an address of other machines without tokens',
      ['--listen', 'ws://0.0.0.0:0'],
      () =>
        'ws://0.0.0.0:0: other machines can reach this address, so clients need a token: use --ws-auth, or listen on 127.0.0.1',
    ],
    [
      'with a token that is not there',
      ['--listen', WS, '--ws-auth', 'capability-token', '--ws-token-file', 'gone'],
      ({ work }) => `--ws-token-file ${work}/gone: the file does not exist`,
    ],
    [
      'with a short secret',
      ['--listen', WS, '--ws-auth', 'signed-bearer-token', '--ws-shared-secret-file', 'file'],
      ({ work }) =>
        `--ws-shared-secret-file ${work}/file: the secret has 4 bytes, and needs at least 32`,
    ],
  ])('%s', async (_, args, problem) => {
    const where = place();
    writeFileSync(join(where.work, 'file'), 'mine');
    expect(await ending(where, args)).toEqual({
      code: 1,
      stdout: '',
      stderr: `heddle: ${problem(where)}\n`,
    });
  });
});

test('an address of other machines is served with tokens, which a client of this machine needs too', async () => {
  const where = place();
  writeFileSync(join(where.work, 'token'), 'secret-token\n');
  const args = ['--ws-auth', 'capability-token', '--ws-token-file', 'token'];
  const { heddle, ports } = await startListening(where, ['ws://0.0.0.0:0'], { args });
  const address = (ports[0] ?? '').replace('0.0.0.0', '127.0.0.1');
  await expect(new SocketClient(address).opened).rejects.toThrow('401');
  const wrong = { headers: { authorization: 'Bearer secret-tokem' } };
  await expect(new SocketClient(address, wrong).opened).rejects.toThrow('401');
  await socketClient(address, { headers: { authorization: 'Bearer secret-token' } });
  await expect.poll(() => heddle.stderr).toContain('invalid websocket bearer token');
  expect(heddle.stderr).not.toContain('secret-toke');
});

test('of servers that start at once on one path, one listens, also after one that was killed', async () => {
  const folder = place().work;
  mkdirSync(join(folder, 'sockets'), { mode: 0o700 });
  const path = join(folder, 'sockets', 's');
  for (let round = 0; round < 3; round++) {
    const servers = await Promise.all(
      [place(), place(), place()].map((where) =>
        startListening(where, [`unix://${path}`], { errorsLogged: true }),
      ),
    );
    const ended = () => servers.filter(({ heddle }) => heddle.hasEnded);
    await expect.poll(() => ended().length).toBe(2);
    const client = await socketClient(`unix://${path}`);
    await client.request('thread/loaded/list', {});
    for (const { heddle } of ended()) {
      expect(await heddle.exit).toEqual({ code: 1, signal: null });
      expect(heddle.stderr).toBe(`heddle: ${path} is already in use by another server\n`);
    }
    const [winner] = servers.filter(({ heddle }) => !heddle.hasEnded);
    await winner?.heddle.kill();
    expect(statSync(path).isSocket()).toBe(true);
  }
});

/** A reply that begins, and goes on when the gate is open. */
function waiting(gate: Gate): Reply {
  return async (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(sse(created));
    await gate.pass();
    res.end(sse(completed));
  };
}

/** A server with a turn that waits for its model. */
async function inTurn(provider: ProviderServer, gate: Gate) {
  const where = place({ 'config.toml': providerToml(provider.port) });
  const { heddle, ports } = await startListening(where, [WS]);
  const address = ports[0] ?? '';
  const client = await socketClient(address);
  const { thread } = await client.request('thread/start', {});
  const { turn } = await client.request('turn/start', { threadId: thread.id, input: text('hi') });
  await gate.reached;
  return { heddle, address, client, threadId: thread.id, turnId: turn.id };
}

test('SIGTERM in a turn lets it end, and no other begins; then the server ends', async () => {
  const gate = new Gate();
  await using provider = await ProviderServer.start(waiting(gate), answered);
  const { heddle, address, client, threadId, turnId } = await inTurn(provider, gate);
  heddle.signal('SIGTERM');
  const other = await client.request('thread/start', {});
  const starting = { threadId: other.thread.id, input: text('hi') };
  const refusal = {
    code: -32600,
    message: 'the server is ending and begins no more turns: connect again',
    data: { code: 'shutting_down', reason: 'serverShuttingDown' },
  };
  await expect
    .poll(() => client.refusal('turn/start', starting).catch(() => null))
    .toEqual(refusal);
  // It serves everything else, also those that come now.
  const late = await socketClient(address);
  await late.request('thread/resume', { threadId });
  for (const [method, params] of [
    ['review/start', { threadId: other.thread.id, target: { type: 'uncommittedChanges' } }],
    ['thread/compact/start', { threadId: other.thread.id }],
    ['thread/shellCommand', { threadId: other.thread.id, command: 'true' }],
  ] as const)
    expect(await late.refusal(method, params)).toEqual(refusal);
  await client.request('thread/goal/set', { threadId: other.thread.id, objective: 'all green' });
  expect(heddle.hasEnded).toBe(false);
  gate.open();
  expect((await client.turnCompleted(turnId)).status).toBe('completed');
  expect(await heddle.exit).toEqual({ code: 0, signal: null });
  expect(await late.closed).toEqual({ code: 1001, reason: '' });
  expect(provider.requests).toHaveLength(1);
});

test('a second signal ends the turn and the server', async () => {
  const gate = new Gate();
  await using provider = await ProviderServer.start(waiting(gate));
  const { heddle, client, threadId, turnId } = await inTurn(provider, gate);
  heddle.signal('SIGTERM');
  await expect
    .poll(() =>
      client.ask('turn/start', { threadId, input: text('x') }).then(({ error }) => error?.data),
    )
    .toMatchObject({ reason: 'serverShuttingDown' });
  heddle.signal('SIGTERM');
  expect((await client.turnCompleted(turnId)).status).toBe('interrupted');
  expect(await heddle.exit).toEqual({ code: 143, signal: null });
  expect(await client.closed).toEqual({ code: 1001, reason: '' });
});
