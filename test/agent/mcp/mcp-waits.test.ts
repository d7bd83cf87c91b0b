import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { tempFolder } from '../../config/temp-folder.ts';
import {
  EXAMPLE_SERVER,
  exampleServer,
  mcpThread,
  offeredBy,
  runTurn,
  until,
  withServers,
} from '../../mcp/mcp-thread.ts';
import { functionCall, message, response, TestModel } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';

const TIMEOUT_MS = 7_000;
/** The machine may take long to start a process. */
const SLOW = { timeout: 15_000 };

/**
 * A thread with a server that works, and one that never answers. Its first turn has waited for that
 * one.
 */
async function withHungServer() {
  const log = join(tempFolder(), 'log');
  const mute = exampleServer('mute', `startup_timeout_sec = ${TIMEOUT_MS / 1000}`, {
    MCP_MODE: 'mute',
    MCP_LOG: log,
  });
  const server = await mcpThread([], { config: withServers(exampleServer() + mute) });
  const first = runTurn(server);
  const starts = () =>
    existsSync(log) ? (readFileSync(log, 'utf8').match(/^pid /gm)?.length ?? 0) : 0;
  await vi.waitFor(() => expect(starts()).toBe(1), SLOW);
  server.clock.advance(TIMEOUT_MS);
  await first;
  /** The clock stands still: a turn that waits for the server does not end. */
  const turnOf = async (threadId: string) => {
    server.model.push(response(message('done')));
    await runTurn({ ...server, threadId });
    return offeredBy(server.model.requests.at(-1)).length > 0;
  };
  const failures = () =>
    server.client
      .notifications('mcpServer/startupStatus/updated')
      .filter(({ status }) => status === 'failed').length;
  return { ...server, starts, turnOf, failures };
}

test('turns do not wait again for a server that hangs, whoever has it started', async () => {
  const server = await withHungServer();
  const { client, clock, threadId, turnOf, starts } = server;
  const { thread } = await client.request('thread/start', {});
  expect([await turnOf(thread.id), await turnOf(threadId), starts()]).toEqual([true, true, 1]);
  clock.advance(1_000);
  await vi.waitFor(() => expect(starts()).toBe(2), SLOW);
  const polled = client.request('mcpServerStatus/list', { threadId, serverName: 'mute' });
  const another = await client.request('thread/start', {});
  server.model.push(response(functionCall('list_mcp_resources', {}, { callId: 'all' })));
  for (const id of [threadId, thread.id, another.thread.id]) expect(await turnOf(id)).toBe(true);
  clock.advance(TIMEOUT_MS);
  expect((await polled).data).toMatchObject([{ runtimeStatus: 'failed' }]);
  expect(starts()).toBe(2);
});

test('mcpServerStatus/list does not start a server that has failed; config/mcpServer/reload does, and the next turn waits for it', async () => {
  const server = await withHungServer();
  const { client, clock, threadId, starts, failures } = server;
  for (const params of [{ threadId }, {}]) {
    const { data } = await client.request('mcpServerStatus/list', {
      ...params,
      serverName: 'mute',
    });
    expect(data).toMatchObject([
      { toolsError: expect.stringMatching(/^it did not start in time/) as string },
    ]);
  }
  expect(starts()).toBe(1);
  await client.request('config/mcpServer/reload', undefined);
  server.model.push(response(message('done')));
  const turn = runTurn(server);
  await vi.waitFor(() => expect(starts()).toBe(2), SLOW);
  clock.advance(TIMEOUT_MS);
  await turn;
  expect(failures()).toBe(2);
});

/** The configuration of a server that dies as long as a file is there. */
function fragile(more = '') {
  const folder = tempFolder();
  const [log, broken] = [join(folder, 'log'), join(folder, 'broken')];
  writeFileSync(broken, '');
  const script = `if [ -e ${broken} ]; then echo pid 0 >> ${log}; exit 3; fi; exec ${process.execPath} ${EXAMPLE_SERVER}`;
  const config = `[mcp_servers.ex]\ncommand = "/bin/sh"\nargs = ["-c", ${JSON.stringify(script)}]\nenv = { MCP_LOG = "${log}" }\n${more}\n`;
  const starts = () =>
    existsSync(log) ? (readFileSync(log, 'utf8').match(/^pid /gm)?.length ?? 0) : 0;
  return { config, starts, mend: () => rmSync(broken) };
}

test('thread/start starts a required server that has failed again, without a wait', async () => {
  const { config, starts, mend } = fragile('required = true');
  const server = await startServer({ model: new TestModel(), config: withServers(config) });
  for (let times = 0; times < 2; times++)
    await expect(server.client.request('thread/start', {})).rejects.toThrow(/exit code 3/);
  expect(starts()).toBe(2);
  mend();
  await server.client.request('thread/start', {});
  expect(starts()).toBe(3);
});

test('a reload does not start a failed server that the new configuration has changed or removed', async () => {
  const { config, starts, mend } = fragile();
  const server = await mcpThread([], { config: withServers(config) });
  const states = () =>
    server.client.notifications('mcpServer/startupStatus/updated').map(({ status }) => status);
  await until(server, 'the failure', () => states().includes('failed'));
  writeFileSync(join(server.home, 'config.toml'), withServers(''));
  await server.client.request('config/mcpServer/reload', undefined);
  await until(server, 'the end', () => states().includes('cancelled'));
  mend();
  writeFileSync(join(server.home, 'config.toml'), withServers(exampleServer('other')));
  await server.client.request('config/mcpServer/reload', undefined);
  await until(server, 'the other server', () => states().at(-1) === 'ready');
  expect([starts(), states()]).toEqual([
    1,
    ['starting', 'failed', 'cancelled', 'starting', 'ready'],
  ]);
});
