import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { text } from '../../support/test-client.ts';
import { functionCall, response } from '../../support/test-model.ts';
import type { TestServer } from '../../support/test-server.ts';
import { done, modelOutput, runs } from '../../tools/command-server.ts';
import { hookServer, modelInput, prints, THREAD } from './hook-server.ts';

const WAITS = 'touch ../waits; while [ ! -e ../go ]; do sleep 0.01; done';
const BLOCKS = prints({ decision: 'block', reason: 'look again' });

const waiting = ({ folder }: TestServer) =>
  expect.poll(() => existsSync(join(folder, 'waits')), { timeout: 10_000 }).toBe(true);

/** The outputs that the store has for the model. */
async function stored({ store }: TestServer): Promise<unknown[]> {
  const { entries } = await store.readModelEntries(THREAD, { cursor: null });
  return entries.flatMap((entry) =>
    entry.kind === 'model' && entry.item.type === 'function_call_output' ? [entry.item.output] : [],
  );
}

test.each([
  ['a command', runs('echo deployed'), expect.stringContaining('deployed')],
  [
    'a call without an item',
    response(functionCall('update_plan', { plan: [] })),
    'The plan is updated.',
  ],
])('the output of %s is stored before its PostToolUse hooks run', async (_what, call, output) => {
  const server = await hookServer({ PostToolUse: [{ command: WAITS }] }, [call, done]);
  await server.client.request('turn/start', { threadId: THREAD, input: text('go') });
  await waiting(server);
  expect(await stored(server)).toEqual([output]);
  writeFileSync(join(server.folder, 'go'), '');
  await server.client.waitFor('turn/completed');
  expect(await stored(server)).toEqual([output]);
});

test('the raw events have both outputs, that of the hook behind the other', async () => {
  const server = await hookServer({ PostToolUse: [{ command: BLOCKS }] }, [runs('echo one'), done]);
  const { thread } = await server.client.request('thread/start', { experimentalRawEvents: true });
  await server.client.turn(thread.id, 'go');
  const items = server.client.notifications('rawResponseItem/completed').map(({ item }) => item);
  const outputs = items.filter(({ type }) => type === 'function_call_output');
  const call_id = 'call_1';
  expect(outputs).toMatchObject([
    { call_id, output: expect.stringContaining('one') },
    { call_id, output: 'look again' },
  ]);
});

test('the model reads the reason of a hook in place of the output, also after a restart', async () => {
  const calls = response(
    functionCall('exec_command', { cmd: 'echo one' }, { callId: 'a' }),
    functionCall('exec_command', { cmd: 'echo two' }, { callId: 'b' }),
  );
  const command = `if grep -q two; then ${BLOCKS}; fi`;
  const first = await hookServer({ PostToolUse: [{ command }] }, [calls, done]);
  await first.client.turn(THREAD, 'go');
  expect([modelOutput(first, 'a'), modelOutput(first, 'b')]).toEqual([
    expect.stringContaining('one'),
    'look again',
  ]);
  const server = await first.restart({ files: {} });
  server.model.push(done);
  await server.client.request('thread/resume', { threadId: THREAD });
  await server.client.turn(THREAD, 'again');
  expect([modelOutput(server, 'a'), modelOutput(server, 'b')]).toEqual([
    expect.stringContaining('one'),
    'look again',
  ]);
  expect(JSON.stringify(modelInput(server, server.model.requests.length))).not.toContain('two\\n');
});

test('calls with one id keep their own outputs', async () => {
  const calls = response(
    functionCall('exec_command', { cmd: 'echo one' }, { callId: 'a' }),
    functionCall('exec_command', { cmd: 'echo two' }, { callId: 'a' }),
  );
  const server = await hookServer(
    { PostToolUse: [{ command: `if grep -q one; then ${BLOCKS}; fi` }] },
    [calls, done],
  );
  await server.client.turn(THREAD, 'go');
  expect(modelInput(server, 2).slice(1)).toEqual([
    'output: look again',
    expect.stringContaining('two'),
  ]);
});
