import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ThreadItem } from '../../src/protocol/generated/types.ts';
import { idOf } from '../support/counting-ids.ts';
import { functionCall, message, response, type ScriptedResponse } from '../support/test-model.ts';
import type { TestServer } from '../support/test-server.ts';
import {
  commandServer,
  completed,
  done,
  modelOutput,
  runs,
  says,
  THREAD,
  writes,
} from './command-server.ts';

/** Runs until the test writes to its pipe, and then prints what was written. */
const WAITING = 'mkfifo p; echo up; read x < p; echo "got $x"';

/** A server with a command in the background, whose turn has ended. */
async function background(...responses: ScriptedResponse[]): Promise<TestServer> {
  const server = await commandServer([runs(WAITING), done, ...responses]);
  await yielded(server);
  return server;
}

/** Advances the clock past the model's wait for the command. */
async function yielded(server: TestServer): Promise<void> {
  const turn = server.client.turn(THREAD, 'go');
  await says(server, 'up');
  await server.clock.timerOf(10_000);
  server.clock.advance(10_000);
  expect(await turn).toMatchObject({ status: 'completed' });
}

async function commandsOfTurns({ client }: TestServer): Promise<Partial<ThreadItem>[][]> {
  const { thread } = await client.request('thread/read', { threadId: THREAD, includeTurns: true });
  return thread.turns.map(({ items }) => items.filter(({ type }) => type === 'commandExecution'));
}

describe('a command that outlives its wait', () => {
  test('continues after the end of its turn, and its item shows the output so far', async () => {
    const server = await background();
    expect(modelOutput(server)).toMatch(
      /^Wall time: 10\.0000 seconds\nProcess running with session ID \d+\nOriginal token count: 1\nOutput:\nup\n$/,
    );
    expect(completed(server)).toEqual([]);
    expect(await commandsOfTurns(server)).toMatchObject([
      [{ id: 'call_1', status: 'inProgress', aggregatedOutput: 'up\n', exitCode: null }],
    ]);
    const { data } = await server.client.request('thread/items/list', { threadId: THREAD });
    expect(data.filter(({ item }) => item.type === 'commandExecution')).toHaveLength(1);
    await server.client.request('thread/backgroundTerminals/clean', { threadId: THREAD });
  });

  test('that ends between turns completes its item once, in its own turn, also after a restart', async () => {
    const server = await background();
    await writeFile(join(server.cwd, 'p'), 'it\n');
    const { turnId } = await server.client.waitFor(
      'item/completed',
      ({ item }) => item.type === 'commandExecution',
    );
    expect(turnId).toBe(server.client.notifications('turn/started')[0]?.turn.id);
    const whole = [
      [
        {
          id: 'call_1',
          status: 'completed',
          aggregatedOutput: 'up\ngot it\n',
          exitCode: 0,
          durationMs: 10_000,
        },
      ],
    ];
    expect(await commandsOfTurns(server)).toMatchObject(whole);
    expect(await commandsOfTurns(await server.restart())).toMatchObject(whole);
  });

  test('that ends in a later turn, which polls it, completes its item in its own turn', async () => {
    const server = await background(writes(''), done, writes('', {}, 'call_3'), done);
    const turn = server.client.turn(THREAD, 'and?');
    await server.model.asked(3);
    await writeFile(join(server.cwd, 'p'), 'it\n');
    await turn;
    expect(modelOutput(server, 'call_2')).toMatch(
      /^Wall time: .*\nProcess exited with code 0\nOriginal token count: 2\nOutput:\ngot it\n$/,
    );
    expect(await commandsOfTurns(server)).toMatchObject([
      [{ id: 'call_1', status: 'completed', aggregatedOutput: 'up\ngot it\n' }],
      [],
    ]);
    await server.client.turn(THREAD, 'and now?');
    expect(modelOutput(server, 'call_3')).toMatch(
      /^write_stdin: session \d+ does not exist, or has ended\.$/,
    );
  });

  test('that runs when the server is killed has failed, with the output so far', async () => {
    const server = await background();
    const restarted = await server.restart();
    expect(await commandsOfTurns(restarted)).toMatchObject([
      [{ id: 'call_1', status: 'failed', aggregatedOutput: 'up\n' }],
    ]);
  });

  test('is failed in a fork made while it runs; a fork made later has its end', async () => {
    const server = await background();
    const fork = await server.client.request('thread/fork', { threadId: THREAD });
    expect(fork.thread.turns[0]?.items).toMatchObject([
      {},
      {},
      { status: 'failed', aggregatedOutput: 'up\n' },
    ]);
    await server.client.request('thread/backgroundTerminals/clean', { threadId: THREAD });
    const later = await server.client.request('thread/fork', { threadId: THREAD });
    expect(later.thread.turns[0]?.items).toMatchObject([
      {},
      {},
      { status: 'failed', exitCode: 137 },
    ]);
  });

  test('is not killed by an interrupt of a later turn or of its own turn', async () => {
    const slow: ScriptedResponse = (_request, signal) => waiting(signal);
    const server = await commandServer([runs(WAITING), slow]);
    const { turn } = await server.client.request('turn/start', { threadId: THREAD, input: [] });
    await says(server, 'up');
    await server.clock.timerOf(10_000);
    server.clock.advance(10_000);
    await server.model.asked(2);
    await server.client.request('turn/interrupt', { threadId: THREAD, turnId: turn.id });
    await server.client.waitFor('turn/completed');
    expect(
      (await server.client.request('thread/backgroundTerminals/list', { threadId: THREAD })).data,
    ).toHaveLength(1);
    await writeFile(join(server.cwd, 'p'), 'it\n');
    await server.client.waitFor('item/completed', ({ item }) => item.type === 'commandExecution');
    expect(completed(server)).toMatchObject([
      { status: 'completed', aggregatedOutput: 'up\ngot it\n' },
    ]);
  });
});

async function* waiting(signal: AbortSignal) {
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve);
  });
  yield* [];
}

describe('write_stdin', () => {
  test('refuses input for a command without a terminal', async () => {
    const server = await background(writes('hello\n'), done);
    await server.client.turn(THREAD, 'write');
    expect(modelOutput(server, 'call_2')).toMatch(
      /^write_stdin: session \d+ has no terminal, so its stdin is empty\. To write to a command, start it with `tty`: true\.$/,
    );
    expect(server.client.notifications('item/commandExecution/terminalInteraction')).toEqual([]);
  });

  test('ends a command without a terminal by an interrupt character, and clients are notified', async () => {
    const server = await background(writes('\u0003'), done);
    await server.client.turn(THREAD, 'stop');
    const [item] = completed(server);
    expect(item).toMatchObject({ status: 'failed', exitCode: 130 });
    expect(server.client.notifications('item/commandExecution/terminalInteraction')).toEqual([
      {
        threadId: THREAD,
        turnId: expect.any(String),
        itemId: 'call_1',
        processId: item?.processId,
        stdin: '\u0003',
      },
    ]);
    expect(modelOutput(server, 'call_2')).toContain('Process exited with code 130\n');
  });

  test.each([
    [{}, 'write_stdin: `session_id` is missing: pass the number that exec_command returned.'],
    [{ session_id: '1' }, 'write_stdin: `session_id` must be a number.'],
    [{ session_id: 7 }, 'write_stdin: session 7 does not exist, or has ended.'],
    [{ session_id: 7, chars: 1 }, 'write_stdin: `chars` must be a string.'],
  ])('%o is told to be wrong', async (args, problem) => {
    const server = await commandServer([response(functionCall('write_stdin', args)), done]);
    await server.client.turn(THREAD, 'write');
    expect(modelOutput(server)).toBe(problem);
  });
});

describe('thread/backgroundTerminals', () => {
  test('list returns pages of the running commands, latest first; terminate kills one, clean kills all', async () => {
    const server = await commandServer([
      runs('echo up; exec sleep 1000'),
      runs('echo up; exec sleep 1000', {}, 'call_2'),
      response(message('done')),
    ]);
    const turn = server.client.turn(THREAD, 'go');
    for (const _ of [1, 2]) {
      await server.clock.timerOf(10_000);
      server.clock.advance(10_000);
    }
    await turn;
    const { data, nextCursor } = await server.client.request('thread/backgroundTerminals/list', {
      threadId: THREAD,
      limit: 1,
    });
    const terminal = {
      command: 'echo up; exec sleep 1000',
      cwd: server.cwd,
      osPid: expect.any(Number),
      cpuPercent: null,
      rssKb: null,
    };
    expect(data).toEqual([{ ...terminal, itemId: 'call_2', processId: expect.any(String) }]);
    const rest = await server.client.request('thread/backgroundTerminals/list', {
      threadId: THREAD,
      cursor: nextCursor,
    });
    expect(rest).toEqual({
      data: [{ ...terminal, itemId: 'call_1', processId: expect.any(String) }],
      nextCursor: null,
    });
    const processId = data[0]?.processId ?? '';
    expect(
      await server.client.request('thread/backgroundTerminals/terminate', {
        threadId: THREAD,
        processId,
      }),
    ).toEqual({
      terminated: true,
    });
    expect(
      await server.client.request('thread/backgroundTerminals/terminate', {
        threadId: THREAD,
        processId,
      }),
    ).toEqual({
      terminated: false,
    });
    expect(
      await server.client.request('thread/backgroundTerminals/clean', { threadId: THREAD }),
    ).toEqual({});
    await server.client.waitFor('item/completed', ({ item }) => item.id === 'call_1');
    expect(completed(server)).toMatchObject([
      { id: 'call_2', status: 'failed', exitCode: 137 },
      { id: 'call_1', status: 'failed', exitCode: 137 },
    ]);
    expect(
      await server.client.request('thread/backgroundTerminals/list', { threadId: THREAD }),
    ).toEqual({ data: [], nextCursor: null });
  });

  test('a cursor stays valid when the command that it names has ended', async () => {
    const commands = ['call_1', 'call_2', 'call_3'].flatMap((callId) =>
      functionCall('exec_command', { cmd: 'exec sleep 1000' }, { callId }),
    );
    const server = await commandServer([response(commands), done]);
    const turn = server.client.turn(THREAD, 'go');
    while (server.clock.timers.filter((ms) => ms === 10_000).length < 3)
      await server.clock.nextTimer();
    server.clock.advance(10_000);
    await turn;
    const list = (params: object) =>
      server.client.request('thread/backgroundTerminals/list', { threadId: THREAD, ...params });
    const { data, nextCursor } = await list({ limit: 2 });
    expect(data.map(({ itemId }) => itemId)).toEqual(['call_3', 'call_2']);
    await server.client.request('thread/backgroundTerminals/terminate', {
      threadId: THREAD,
      processId: data[1]?.processId ?? '',
    });
    const rest = await list({ cursor: nextCursor });
    expect(rest.data.map(({ itemId }) => itemId)).toEqual(['call_1']);
    await server.client.request('thread/backgroundTerminals/clean', { threadId: THREAD });
  });

  test('an unknown thread and an invalid cursor are refused', async () => {
    const server = await commandServer([]);
    for (const method of ['list', 'clean']) {
      const refused = await server.client.refusal(`thread/backgroundTerminals/${method}`, {
        threadId: idOf(9),
      });
      expect(refused).toMatchObject({ code: -32600, data: { code: 'thread_not_found' } });
    }
    const cursor = await server.client.refusal('thread/backgroundTerminals/list', {
      threadId: THREAD,
      cursor: 'x',
    });
    expect(cursor).toMatchObject({ code: -32600, data: { code: 'invalid_cursor' } });
  });

  test.each(['thread/archive', 'thread/delete'] as const)(
    '%s kills what runs in the background',
    async (method) => {
      const server = await background();
      await server.client.request(method, { threadId: THREAD });
      expect(completed(server)).toMatchObject([{ status: 'failed', exitCode: 137 }]);
    },
  );
});
