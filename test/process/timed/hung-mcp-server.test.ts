// @module-tag slow
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXAMPLE_SERVER } from '../../mcp/mcp-thread.ts';
import { type HeddleProcess, place, startHeddle } from '../support.ts';

const STARTUP_MS = 1_000;
/** Long enough for the server to be started again. */
const MEASURED_MS = 4_000;
const TURNS_BEFORE = 30;
const DELAY_MS_MAX = 50;

/** How long a turn of the thread takes, in milliseconds. */
async function turnMs(heddle: HeddleProcess, threadId: string): Promise<number> {
  const startedMs = performance.now();
  await heddle.turn(threadId, 'hello');
  return performance.now() - startedMs;
}

const median = (values: number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

test('an MCP server that hangs delays the turns of other threads by 50 ms at most, however often it is asked for', async () => {
  const log = join(place().temp, 'pids');
  const server = `[mcp_servers.mute]
command = "${process.execPath}"
args = ["${EXAMPLE_SERVER}"]
env = { MCP_MODE = "mute", MCP_LOG = "${log}" }
startup_timeout_sec = ${STARTUP_MS / 1000}
`;
  const heddle = await startHeddle(
    place({ 'config.toml': `model_provider = "scripted"\n${server}` }),
  );
  const { thread } = await heddle.request('thread/start', {});
  await heddle.turn(thread.id, 'wait for it');
  const starts = () =>
    existsSync(log) ? (readFileSync(log, 'utf8').match(/^pid /gm) ?? []).length : 0;
  const startsBefore = starts();
  const before: number[] = [];
  while (before.length < TURNS_BEFORE) before.push(await turnMs(heddle, thread.id));
  const during: number[] = [];
  const polls: Promise<unknown>[] = [];
  const beganMs = performance.now();
  while (performance.now() - beganMs < MEASURED_MS) {
    if (during.length % TURNS_BEFORE === 0) {
      await heddle.request('thread/start', {});
      polls.push(heddle.request('mcpServerStatus/list', {}));
    }
    during.push(await turnMs(heddle, thread.id));
  }
  await Promise.all(polls);
  expect(starts()).toBeGreaterThan(startsBefore);
  expect(median(during) - median(before)).toBeLessThan(DELAY_MS_MAX);
  // The machine may be slow. No turn has waited for the server.
  expect(Math.max(...during)).toBeLessThan(STARTUP_MS);
});
