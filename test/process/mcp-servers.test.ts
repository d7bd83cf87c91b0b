// @module-tag slow
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { EXAMPLE_SERVER } from '../mcp/mcp-thread.ts';
import { place, startHeddle } from './support.ts';

/**
 * A home with so many servers that each note their pids in a file, and a child that outlives a
 * SIGTERM.
 */
function withServers(count: number, top = '') {
  const where = place();
  const log = join(where.temp, 'pids');
  const servers = Array.from(
    { length: count },
    (_, index) => `[mcp_servers.s${index}]
command = "/bin/sh"
args = ["-c", "trap '' TERM; sleep 1000 & echo child $! >> ${log}; exec ${process.execPath} ${EXAMPLE_SERVER}"]
env = { MCP_LOG = "${log}" }
`,
  );
  const file = { 'config.toml': `model_provider = "scripted"\n${top}\n${servers.join('')}` };
  return { where: place(file), pids: () => pidsIn(log) };
}

function pidsIn(log: string): { servers: number[]; children: number[] } {
  const text = readFileSync(log, 'utf8');
  const named = (word: string) =>
    [...text.matchAll(new RegExp(`^${word} (\\d+)$`, 'gm'))].map(([, pid]) => Number(pid));
  return { servers: named('pid'), children: named('child') };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

test('50 threads with the same 10 servers run 10 processes, and a kill of heddle leaves none', async () => {
  const { where, pids } = withServers(10);
  const heddle = await startHeddle(where);
  const threads = await Promise.all(
    Array.from({ length: 50 }, () => heddle.request('thread/start', {})),
  );
  for (const { thread } of threads) {
    const { data } = await heddle.request('mcpServerStatus/list', { threadId: thread.id });
    expect(data.map(({ runtimeStatus }) => runtimeStatus)).toEqual(
      Array.from({ length: 10 }, () => 'connected'),
    );
  }
  const { servers, children } = pids();
  expect([servers.length, children.length, [...servers, ...children].every(isAlive)]).toEqual([
    10,
    10,
    true,
  ]);
  await heddle.kill();
  await vi.waitFor(() => expect([...servers, ...children].filter(isAlive)).toEqual([]), {
    timeout: 3_000,
    interval: 50,
  });
});

test('servers and their children end with heddle', async () => {
  const { where, pids } = withServers(2);
  const heddle = await startHeddle(where);
  const { thread } = await heddle.request('thread/start', {});
  await heddle.request('mcpServerStatus/list', { threadId: thread.id });
  heddle.stdin.end();
  await heddle.exit;
  const { servers, children } = pids();
  expect(servers).toHaveLength(2);
  expect([...servers, ...children].filter(isAlive)).toEqual([]);
});

test('a required server that does not start refuses the thread in the built server, too', async () => {
  const where = place({
    'config.toml':
      'model_provider = "scripted"\n[mcp_servers.none]\ncommand = "/no/such"\nrequired = true\n',
  });
  const heddle = await startHeddle(where);
  await expect(heddle.request('thread/start', {})).rejects.toThrow(
    /required MCP servers failed to initialize: none: .*\/no\/such/,
  );
});
