import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { StoreError } from '../../src/store/store-error.ts';
import { Gate } from '../support/gate.ts';
import { gatedStore } from '../support/gated-store.ts';
import { text } from '../support/test-client.ts';
import { failed, functionCall, message, response } from '../support/test-model.ts';
import type { TestServer } from '../support/test-server.ts';
import {
  type CommandItem,
  commandServer,
  completed,
  done,
  modelOutput,
  runs,
  says,
  THREAD,
} from '../tools/command-server.ts';

/** Runs until the test writes to its pipe, and prints what was written. */
const WAITING = 'mkfifo p; echo up; read x < p; echo "got $x"';

/** A server whose store fails while the disk is full. */
async function withDisk(
  ...args: Parameters<typeof commandServer>
): Promise<TestServer & { disk: { isFull: boolean; refused: number } }> {
  const disk = { isFull: false, refused: 0 };
  const [responses] = args;
  const server = await commandServer(responses, {
    wrapStore: (store) =>
      gatedStore(store, () => {
        if (!disk.isFull) return;
        disk.refused++;
        throw new StoreError('store_full', 'the disk is full');
      }),
  });
  return { ...server, disk };
}

async function commandsRead({ client }: Pick<TestServer, 'client'>): Promise<CommandItem[]> {
  const { thread } = await client.request('thread/read', { threadId: THREAD, includeTurns: true });
  return thread.turns
    .flatMap(({ items }) => items)
    .filter((item): item is CommandItem => item.type === 'commandExecution');
}

describe('if the disk is full when a command ends', () => {
  test('the turn fails once, and its command is stored and then announced as completed when there is room', async () => {
    const server = await withDisk([runs(WAITING)]);
    const { turn } = await server.client.request('turn/start', {
      threadId: THREAD,
      input: text('go'),
    });
    await says(server, 'up');
    server.disk.isFull = true;
    await writeFile(join(server.cwd, 'p'), 'it\n');
    expect(await server.client.turnCompleted(turn.id)).toMatchObject({
      status: 'failed',
      error: { message: 'the disk is full' },
    });
    const ended = [
      expect.objectContaining({
        status: 'completed',
        aggregatedOutput: 'up\ngot it\n',
        exitCode: 0,
      }),
    ];
    expect(completed(server)).toEqual([]);
    server.disk.isFull = false;
    server.model.push(done);
    await server.client.turn(THREAD, 'again');
    expect(completed(server)).toEqual(ended);
    expect(await commandsRead(server)).toEqual(completed(server));
    expect(await commandsRead(await server.restart())).toEqual(ended);
  });

  test('a background command is stored and then announced as completed, once, when there is room', async () => {
    const server = await withDisk([runs(WAITING), done]);
    const turn = server.client.turn(THREAD, 'go');
    await says(server, 'up');
    await server.clock.timerOf(10_000);
    server.clock.advance(10_000);
    await turn;
    server.disk.isFull = true;
    await writeFile(join(server.cwd, 'p'), 'it\n');
    await vi.waitUntil(() => server.disk.refused > 0, { timeout: 30_000 });
    expect(completed(server)).toEqual([]);
    server.disk.isFull = false;
    server.model.push(done);
    await server.client.turn(THREAD, 'again');
    expect(completed(server)).toMatchObject([
      { status: 'completed', aggregatedOutput: 'up\ngot it\n' },
    ]);
    expect(await commandsRead(server)).toEqual(completed(server));
    expect(await commandsRead(await server.restart())).toEqual(completed(server));
  });
});

test('a background command that ends before the end of its failed turn is stored is an item of the turn', async () => {
  const gate = new Gate();
  const kinds: string[] = [];
  const server = await commandServer([runs(WAITING), [...message('bye'), failed('no')]], {
    wrapStore: (store) =>
      gatedStore(store, async ({ entries }) => {
        if (entries.some((entry) => entry.kind === 'item' && entry.item.type === 'agentMessage'))
          await gate.pass();
        for (const entry of entries)
          if ('item' in entry && entry.item.type === 'commandExecution') kinds.push(entry.kind);
      }),
  });
  const turn = server.client.turn(THREAD, 'go');
  await says(server, 'up');
  await server.clock.timerOf(10_000);
  server.clock.advance(10_000);
  await gate.reached;
  await writeFile(join(server.cwd, 'p'), 'it\n');
  const running = () =>
    server.client.request('thread/backgroundTerminals/list', { threadId: THREAD });
  await vi.waitUntil(async () => (await running()).data.length === 0, { timeout: 30_000 });
  gate.open();
  expect((await turn).status).toBe('failed');
  expect(kinds).toEqual(['item']);
  expect(await commandsRead(server)).toMatchObject([
    { status: 'completed', aggregatedOutput: 'up\ngot it\n' },
  ]);
});

test('an interrupt ends a user command before the turn', async () => {
  const server = await commandServer([runs('sleep 300')]);
  const { turn } = await server.client.request('turn/start', {
    threadId: THREAD,
    input: text('go'),
  });
  await server.client.waitFor('item/started', ({ item }) => item.type === 'commandExecution');
  await server.client.request('thread/shellCommand', {
    threadId: THREAD,
    command: 'echo mine; sleep 300',
  });
  await says(server, 'mine');
  await server.client.request('turn/interrupt', { threadId: THREAD, turnId: turn.id });
  expect(await server.client.turnCompleted(turn.id)).toMatchObject({ status: 'interrupted' });
  expect(completed(server)).toHaveLength(2);
  expect(await commandsRead(server)).toHaveLength(2);
});

test('calls that wait for others do not begin after an interrupt, and the model is told', async () => {
  const calls = [
    ...functionCall('exec_command', { cmd: 'echo up; sleep 300' }),
    ...functionCall(
      'apply_patch',
      { input: '*** Begin Patch\n*** Add File: a\n+a\n*** End Patch' },
      { callId: 'call_2' },
    ),
    ...functionCall('exec_command', { cmd: 'echo never' }, { callId: 'call_3' }),
  ];
  const server = await commandServer([response(calls), done]);
  const { turn } = await server.client.request('turn/start', {
    threadId: THREAD,
    input: text('go'),
  });
  await says(server, 'up');
  await server.client.request('turn/interrupt', { threadId: THREAD, turnId: turn.id });
  await server.client.turnCompleted(turn.id);
  expect(server.client.notifications('item/started').map(({ item }) => item.type)).toEqual([
    'userMessage',
    'commandExecution',
  ]);
  await server.client.turn(THREAD, 'on');
  expect(modelOutput(server, 'call_2')).toBe('The turn was interrupted before this call began.');
  expect(modelOutput(server, 'call_3')).toBe('The turn was interrupted before this call began.');
});

test('a call id that the model reuses after a restart does not become the id of a second item', async () => {
  const server = await commandServer([runs('echo one'), done]);
  await server.client.turn(THREAD, 'go');
  const again = await server.restart();
  again.model.push(runs('echo two'), done);
  await again.client.request('thread/resume', { threadId: THREAD });
  await again.client.turn(THREAD, 'go');
  const commands = await commandsRead(again);
  expect(commands.map(({ aggregatedOutput }) => aggregatedOutput)).toEqual(['one\n', 'two\n']);
  expect(commands.map(({ id }) => id === 'call_1')).toEqual([true, false]);
});
