import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { McpServerConfig } from '../../src/config/mcp/mcp-server-config.ts';
import { McpServers } from '../../src/mcp/mcp-servers.ts';
import type { McpServerState, McpUser } from '../../src/mcp/mcp-user.ts';
import { CredentialStore } from '../../src/mcp/oauth/credential-store.ts';
import { createProcesses } from '../../src/sandbox/processes/create-processes.ts';
import { tempFolder } from '../config/temp-folder.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RecordingLog } from '../support/recording-log.ts';
import { EXAMPLE_SERVER } from './mcp-thread.ts';

const NEVER = new AbortController().signal;

function setUp() {
  const folder = tempFolder();
  const file = join(folder, 'log');
  const clock = new FakeClock();
  const log = new RecordingLog();
  const processes = createProcesses({
    sandbox: null,
    platform: 'linux',
    env: {},
    sendSignal: (pid, signal) => process.kill(pid, signal),
    log,
  });
  const servers = new McpServers({
    processes,
    clock,
    log,
    env: {},
    version: '1',
    script: null,
    credentials: new CredentialStore(folder, clock),
  });
  onTestFinished(async () => {
    await servers.close();
    await processes.close();
  });
  const config = (
    env: Record<string, string> = {},
    more: Partial<McpServerConfig> = {},
  ): McpServerConfig => ({
    name: 'ex',
    transport: {
      type: 'stdio',
      command: process.execPath,
      args: [EXAMPLE_SERVER],
      env: { MCP_LOG: file, ...env },
      cwd: null,
    },
    enabled: true,
    required: false,
    startupTimeoutMs: 10_000,
    toolTimeoutMs: 60_000,
    enabledTools: null,
    disabledTools: [],
    approvalMode: 'auto',
    callsInParallel: false,
    toolApprovals: {},
    approvedTools: {},
    secrets: [],
    ...more,
  });
  const pids = () =>
    existsSync(file)
      ? [...readFileSync(file, 'utf8').matchAll(/^pid (\d+)$/gm)].map(([, pid]) => Number(pid))
      : [];
  return { clock, servers, config, pids, root: folder, file };
}

function user(root: string): McpUser & { states: McpServerState[] } {
  const states: McpServerState[] = [];
  return {
    root,
    states,
    onState: (state) => void states.push(state),
    onQuestion: async () => ({ result: null }),
  };
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test('uses with the same configuration share a process; the tools that a thread takes of it do not matter', async () => {
  const { servers, config, pids, root } = setUp();
  const leases = [config(), config({}, { enabledTools: ['echo'], toolTimeoutMs: 1 }), config()].map(
    (each) => servers.use(each, user(root)),
  );
  await Promise.all(leases.map(({ server }) => server.settled(NEVER)));
  expect([new Set(leases.map(({ server }) => server)).size, pids().length, servers.count]).toEqual([
    1, 1, 1,
  ]);
});

test.each<[string, (base: McpServerConfig) => McpServerConfig, boolean]>([
  [
    'another variable',
    (base) => ({
      ...base,
      transport: { ...base.transport, env: { OTHER: '1' } } as McpServerConfig['transport'],
    }),
    false,
  ],
  ['another name', (base) => ({ ...base, name: 'other' }), false],
  [
    'another folder',
    (base) => ({
      ...base,
      transport: { ...base.transport, cwd: '/' } as McpServerConfig['transport'],
    }),
    false,
  ],
  [
    'variables in another order',
    (base) => ({ ...base, transport: reversed(base.transport) }),
    true,
  ],
])('%s', async (_what, change, isShared) => {
  const { servers, config, root } = setUp();
  const first = servers.use(config({ A: '1', B: '2' }), user(root));
  const second = servers.use(change(config({ A: '1', B: '2' })), user(root));
  expect(first.server === second.server).toBe(isShared);
  await Promise.all([first.server.settled(NEVER), second.server.settled(NEVER)]);
});

function reversed(transport: McpServerConfig['transport']): McpServerConfig['transport'] {
  if (transport.type !== 'stdio') throw new Error('stdio');
  return { ...transport, env: Object.fromEntries(Object.entries(transport.env).reverse()) };
}

test('a server ends within a minute of its last use, and another use before that keeps it', async () => {
  const { servers, config, pids, root, clock } = setUp();
  const first = servers.use(config(), user(root));
  await first.server.settled(NEVER);
  first.release();
  clock.advance(20_000);
  const second = servers.use(config(), user(root));
  clock.advance(100_000);
  expect([pids().length, pids().every(isAlive)]).toEqual([1, true]);
  second.release();
  second.release();
  clock.advance(59_000);
  expect(servers.count).toBe(0);
  await servers.close();
  expect(pids().some(isAlive)).toBe(false);
});

test('calls leave nothing behind that each later promise of the thread takes time for', async () => {
  const { servers, config, root } = setUp();
  const kept = () => Object.getOwnPropertySymbols(new Promise(() => {}));
  const before = kept();
  for (const name of ['first', 'second']) {
    const lease = servers.use(config({ NAME: name }), user(root));
    await lease.server.settled(NEVER);
    const call = { op: 'callTool' as const, name: 'echo', arguments: { text: name }, meta: null };
    await Promise.all(
      [1, 2].map(() =>
        lease.server.request(call, { timeoutMs: 60_000, signal: NEVER, user: user(root) }),
      ),
    );
    lease.release();
  }
  expect([before, kept()]).toEqual([[], []]);
});

test('a server without users ends only when its calls are answered', async () => {
  const { servers, config, root, clock } = setUp();
  const lease = servers.use(config(), user(root));
  await lease.server.settled(NEVER);
  const call = new AbortController();
  const options = { timeoutMs: 77_000, signal: call.signal, user: null };
  const answered = lease.server.request(
    { op: 'callTool', name: 'hang', arguments: {}, meta: null },
    options,
  );
  await clock.timerOf(77_000);
  lease.release();
  clock.advance(40_000);
  expect([servers.count, lease.server.state.status]).toEqual([1, 'ready']);
  call.abort();
  await expect(answered).rejects.toThrow('cancelled');
  clock.advance(30_000);
  expect(servers.count).toBe(0);
});

test('a server that crashes again and again is started after growing waits', async () => {
  const { servers, config, root, clock } = setUp();
  const own = user(root);
  const { server } = servers.use(config(), own);
  await server.settled(NEVER);
  const waits: number[] = [];
  for (let times = 0; times < 4; times++) {
    const call = { op: 'callTool' as const, name: 'die', arguments: {}, meta: null };
    await expect(
      server.request(call, { timeoutMs: 60_000, signal: NEVER, user: own }),
    ).rejects.toThrow(/exit code 7/);
    const wait = clock.timers.find((ms) => ms < 60_000) ?? 0;
    waits.push(wait);
    clock.advance(wait);
    await server.settled(NEVER);
    expect(server.state.status).toBe('ready');
  }
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000]);
});

test('a server that never worked is not started again by itself, but by the next use', async () => {
  const { servers, config, root, clock, pids } = setUp();
  const { server } = servers.use(config({ MCP_MODE: 'dies' }), user(root));
  await server.settled(NEVER);
  clock.advance(600_000);
  expect([server.state.status, pids().length]).toEqual(['failed', 1]);
  servers.use(config({ MCP_MODE: 'dies' }), user(root));
  await server.settled(NEVER);
  expect(pids()).toHaveLength(2);
});

test('the waits between starts grow whoever asks for the server; a person does not wait', async () => {
  const { servers, config, root, clock, pids } = setUp();
  const dying = config({ MCP_MODE: 'dies' });
  const { server } = servers.use(dying, user(root));
  const askedAt = async (ms: number) => {
    clock.advance(ms);
    for (const lease of [servers.use(dying, user(root)), servers.use(dying, user(root))])
      lease.release();
    await server.settled(NEVER);
    return pids().length;
  };
  await server.settled(NEVER);
  const starts: number[] = [];
  for (const ms of [0, 999, 1, 1_000, 1_000, 0]) starts.push(await askedAt(ms));
  expect(starts).toEqual([1, 1, 2, 2, 3, 3]);
  servers.startFailed();
  await server.settled(NEVER);
  expect(pids()).toHaveLength(4);
});

test.each([
  [
    'noisy',
    'it sends too many lines that are not messages: a server on stdio must write nothing else to its stdout',
  ],
  ['endlessLine', 'it sent a message of more than 64 MiB'],
])(
  'a server that writes no messages, but without end, has failed with the reason (%s)',
  async (MCP_MODE, error) => {
    const { servers, config, root } = setUp();
    const { server } = servers.use(config({ MCP_MODE }), user(root));
    await server.settled(NEVER);
    expect(server.state).toEqual({ status: 'failed', error, needsLogin: false });
  },
);

test.each(['largeInitialize', 'largeDiscover'])(
  'a server whose first answer is too large has failed with the reason (%s)',
  async (MCP_MODE) => {
    const { servers, config, root } = setUp();
    const other = servers.use(config({}, { name: 'other' }), user(root));
    const { server } = servers.use(config({ MCP_MODE }), user(root));
    await Promise.all([server.settled(NEVER), other.server.settled(NEVER)]);
    const error =
      'the answer of the server is too large: it has more than 50000 values, or is nested too deeply';
    expect(server.state).toEqual({ status: 'failed', error, needsLogin: false });
    expect(other.server.state.status).toBe('ready');
  },
);

test('the end of a long error output is whole text', async () => {
  const { servers, config, root } = setUp();
  const { server } = servers.use(config({ MCP_MODE: 'diesInParts' }), user(root));
  await server.settled(NEVER);
  const { error } = server.state as { error: string };
  expect(error).toMatch(/^it ended with exit code 3: (😀)+ ünten$/u);
});

test('a server whose tools change all the time is asked for them once a second', async () => {
  const { servers, config, root, clock, file } = setUp();
  const own = user(root);
  const { server } = servers.use(config(), own);
  await server.settled(NEVER);
  const lists = () => readFileSync(file, 'utf8').match(/"tools\/list"/g)?.length;
  const call = { op: 'callTool' as const, name: 'changes', arguments: { count: 5 }, meta: null };
  await server.request(call, { timeoutMs: 60_000, signal: NEVER, user: own });
  await clock.timerOf(1_000);
  expect(lists()).toBe(2);
  clock.advance(1_000);
  await server.request(
    { ...call, arguments: { count: 0 } },
    { timeoutMs: 60_000, signal: NEVER, user: own },
  );
  expect(lists()).toBe(3);
});

test('changed tools that cannot be listed are listed again a second later', async () => {
  const { servers, config, root, clock } = setUp();
  const own = user(root);
  const { server } = servers.use(config({ MCP_MODE: 'forgetful' }), own);
  await server.settled(NEVER);
  await server.request(
    { op: 'callTool', name: 'grow', arguments: {}, meta: null },
    { timeoutMs: 60_000, signal: NEVER, user: own },
  );
  await clock.timerOf(1_000);
  const names = () => server.tools.map(({ name }) => name);
  expect(names()).not.toContain('grown');
  clock.advance(1_000);
  await vi.waitFor(() => expect(names()).toContain('grown'), { timeout: 30_000 });
});

test('tools that change while the server starts are listed again', async () => {
  const { servers, config, root } = setUp();
  const { server } = servers.use(config({ MCP_MODE: 'late' }), user(root));
  await server.settled(NEVER);
  await vi.waitFor(() => expect(server.tools.map(({ name }) => name)).toContain('grown'), {
    timeout: 30_000,
  });
});

test('a server that hangs while it starts does not hold up others', async () => {
  const { servers, config, root } = setUp();
  servers.use(config({ MCP_MODE: 'mute' }, { name: 'mute' }), user(root));
  const { server } = servers.use(config(), user(root));
  await server.settled(NEVER);
  expect(server.state.status).toBe('ready');
});

test('nothing starts after close', async () => {
  const { servers, config, root, pids } = setUp();
  await servers.close();
  const { server } = servers.use(config(), user(root));
  await server.settled(NEVER);
  expect([server.state.status, pids()]).toEqual(['stopped', []]);
});
