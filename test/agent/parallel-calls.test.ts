// @module-tag slow
import { cpSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { LogEntry } from '../../src/store/log-entry.ts';
import { SESSIONS_MAX } from '../../src/tools/command/sessions/command-sessions.ts';
import { tempFolder } from '../config/temp-folder.ts';
import { answer, PLAN_MODE, QUESTIONS, question } from '../support/asking.ts';
import { CountingIds, idOf } from '../support/counting-ids.ts';
import { gatedStore } from '../support/gated-store.ts';
import { taken } from '../support/settled.ts';
import { text } from '../support/test-client.ts';
import { conversation, functionCall, message, response, TestModel } from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';
import {
  commandServer,
  completed,
  done,
  modelOutput,
  says,
  THREAD,
} from '../tools/command-server.ts';

const CALLS = 300;
const WAIT_MS = 10_000;
const PLAN = { plan: [] };

/** The outputs in the last request to the model, by call, in their order. */
function outputs({ model }: TestServer): [callId: string, output: string][] {
  return conversation(model.request(model.requests.length)).flatMap((item) =>
    item.type === 'function_call_output' ? [[item.call_id ?? '', String(item.output)]] : [],
  );
}

function commands(count: number, cmd: (index: number) => string, args: object = {}) {
  return Array.from({ length: count }, (_, index) =>
    functionCall(
      'exec_command',
      { cmd: cmd(index), login: false, ...args },
      { callId: `c${index}` },
    ),
  );
}

/** The most commands that clients saw running at a time. */
function mostAtOnce({ client }: TestServer): number {
  let open = 0;
  return Math.max(
    ...client.messages.map(({ method, params }) => {
      const isCommand =
        (params as { item?: { type: string } } | undefined)?.item?.type === 'commandExecution';
      if (isCommand && method === 'item/started') open++;
      if (isCommand && method === 'item/completed') open--;
      return open;
    }),
  );
}

test(`${CALLS} commands in one response all run, ${SESSIONS_MAX} at a time, and their outputs are in the order of the calls`, async () => {
  const server = await commandServer([
    response(...commands(CALLS, (index) => `echo out${index}`)),
    done,
  ]);
  expect(await server.client.turn(THREAD, 'go')).toMatchObject({ status: 'completed' });
  expect(outputs(server).map(([id, output]) => [id, output.split('\n').at(-2)])).toEqual(
    Array.from({ length: CALLS }, (_, index) => [`c${index}`, `out${index}`]),
  );
  expect(completed(server)).toHaveLength(CALLS);
  expect(mostAtOnce(server)).toBeGreaterThan(1);
  expect(mostAtOnce(server)).toBeLessThanOrEqual(SESSIONS_MAX);
}, 60_000);

test('an interrupt ends the calls that wait at once, and each call has its output', async () => {
  const server = await commandServer([
    response(...commands(CALLS, (index) => `echo up${index}; exec sleep 1000`)),
    done,
  ]);
  const { turn } = await server.client.request('turn/start', {
    threadId: THREAD,
    input: text('go'),
  });
  for (let index = 0; index < SESSIONS_MAX; index++) await says(server, `up${index}\n`);
  await server.client.request('turn/interrupt', { threadId: THREAD, turnId: turn.id });
  expect(await server.client.turnCompleted(turn.id)).toMatchObject({ status: 'interrupted' });
  await server.client.turn(THREAD, 'next');
  expect(completed(server)).toHaveLength(SESSIONS_MAX);
  const read = outputs(server);
  expect(read.map(([id]) => id)).toEqual(Array.from({ length: CALLS }, (_, index) => `c${index}`));
  expect(new Set(read.slice(SESSIONS_MAX).map(([, output]) => output))).toEqual(
    new Set(['The turn was interrupted before this call began.']),
  );
}, 60_000);

test('commands beyond the limit are refused by name once all that run are in the background', async () => {
  const beyond = 6;
  const calls = commands(SESSIONS_MAX + beyond, (index) => `echo up${index}; exec sleep 1000`, {
    yield_time_ms: WAIT_MS,
  });
  const server = await commandServer([response(...calls), done]);
  const turn = server.client.turn(THREAD, 'go');
  for (let index = 0; index < SESSIONS_MAX; index++) await says(server, `up${index}\n`);
  await expect.poll(() => server.clock.advance(WAIT_MS) ?? server.model.requests.length).toBe(2);
  await turn;
  for (let index = 0; index < beyond; index++) {
    expect(modelOutput(server, `c${SESSIONS_MAX + index}`)).toMatch(
      /^This command was not run: 64 commands .* sessions (\d+, ){63}\d+\.$/,
    );
  }
  await server.client.request('thread/backgroundTerminals/clean', { threadId: THREAD });
}, 60_000);

test('a command beyond the limit waits while a call waits for its command, and runs when that has ended', async () => {
  const sleeping = commands(SESSIONS_MAX - 1, (index) => `echo up${index}; exec sleep 1000`, {
    yield_time_ms: WAIT_MS,
  });
  const last = functionCall(
    'exec_command',
    { cmd: 'echo first; read x', login: false, tty: true, yield_time_ms: 3 * WAIT_MS },
    { callId: 'last' },
  );
  const more = functionCall(
    'exec_command',
    { cmd: 'echo second', login: false },
    { callId: 'more' },
  );
  const server = await commandServer([response(...sleeping), response(last, more), done]);
  const turn = server.client.turn(THREAD, 'go');
  for (let index = 0; index < SESSIONS_MAX - 1; index++) await says(server, `up${index}\n`);
  await expect.poll(() => server.clock.advance(WAIT_MS) ?? server.model.requests.length).toBe(2);
  await says(server, 'first');
  // The list of background commands has none of the calls that still wait: this ends one of the
  // others, which makes room.
  const { data } = await server.client.request('thread/backgroundTerminals/list', {
    threadId: THREAD,
  });
  await server.client.request('thread/backgroundTerminals/terminate', {
    threadId: THREAD,
    processId: data[0]?.processId ?? '',
  });
  await says(server, 'second');
  await expect.poll(() => server.clock.advance(WAIT_MS) ?? server.model.requests.length).toBe(3);
  await turn;
  expect(modelOutput(server, 'more')).toContain('second');
  await server.client.request('thread/backgroundTerminals/clean', { threadId: THREAD });
}, 60_000);

/**
 * Starts another server on a copy of the files as they are now, as if the first process were
 * killed.
 */
async function afterDeathOf({ client, folder }: TestServer): Promise<TestServer> {
  await taken(client);
  const copy = tempFolder();
  cpSync(folder, copy, { recursive: true });
  return startServer({
    folder: copy,
    pid: 4712,
    ids: new CountingIds(1000),
    model: new TestModel(response(message('back'))),
  });
}

test('after a kill the model reads the outputs of all calls that had ended, and has one for each other call', async () => {
  const together = response(
    functionCall('request_user_input', QUESTIONS, { callId: 'open' }),
    functionCall('update_plan', PLAN, { callId: 'plan' }),
    functionCall('no_such_tool', {}, { callId: 'unknown' }),
  );
  const server = await startServer({ model: new TestModel(together, response(message('done'))) });
  await server.client.request('thread/start', {});
  const turn = server.client.turn(idOf(1), 'go', PLAN_MODE);
  const asked = await question(server.client, 'item/tool/requestUserInput');
  const next = await afterDeathOf(server);
  await next.client.request('thread/resume', { threadId: idOf(1) });
  await next.client.turn(idOf(1), 'next');
  expect(outputs(next)).toEqual([
    ['open', 'This call was cut off before it gave an output.'],
    ['plan', expect.stringContaining('unavailable in plan mode')],
    ['unknown', expect.stringMatching(/^There is no tool named no_such_tool/)],
  ]);
  answer(server.client, asked, { answers: {} });
  await turn;
});

test('the output of a call is stored in one step with its item', async () => {
  const steps: LogEntry[][] = [];
  const wrapStore: NonNullable<Parameters<typeof startServer>[0]>['wrapStore'] = (store) =>
    gatedStore(store, ({ entries }) => void steps.push(entries));
  const server = await commandServer(
    [response(...commands(3, (index) => `echo out${index}`)), done],
    { wrapStore },
  );
  await server.client.turn(THREAD, 'go');
  const withItem = steps.filter((entries) =>
    entries.some((entry) => entry.kind === 'item' && entry.item.type === 'commandExecution'),
  );
  const callIds = withItem.flat().map((entry) => {
    if (entry.kind === 'item') return entry.item.id;
    return entry.kind === 'model' && entry.item.type === 'function_call_output'
      ? entry.item.call_id
      : entry.kind;
  });
  const pairs = callIds
    .filter((_id, index) => index % 2 === 0)
    .map((id, index) => [id, callIds[index * 2 + 1]]);
  expect(pairs.sort()).toEqual([
    ['c0', 'c0'],
    ['c1', 'c1'],
    ['c2', 'c2'],
  ]);
});

test('calls with the same id have their own outputs, in the order of the calls', async () => {
  const responses = [
    response(
      functionCall('request_user_input', QUESTIONS, { callId: 'same' }),
      functionCall('update_plan', PLAN, { callId: 'same' }),
      functionCall('no_such_tool', {}, { callId: 'other' }),
    ),
    response(message('done')),
  ];
  const server = await startServer({ model: new TestModel(...responses) });
  await server.client.request('thread/start', {});
  const turn = server.client.turn(idOf(1), 'go', PLAN_MODE);
  answer(server.client, await question(server.client, 'item/tool/requestUserInput'), {
    answers: { q: { answers: ['A'] } },
  });
  await turn;
  expect(outputs(server)).toEqual([
    ['same', expect.stringContaining('"answers":["A"]')],
    ['same', expect.stringContaining('unavailable in plan mode')],
    ['other', expect.stringMatching(/^There is no tool/)],
  ]);
});

test('input that joins the turn while calls run does not come between them and their outputs', async () => {
  const server = await commandServer([
    response(...commands(2, (index) => `echo up${index}; exec sleep ${index === 0 ? 0 : 1000}`)),
    response(message('next')),
  ]);
  const { turn } = await server.client.request('turn/start', {
    threadId: THREAD,
    input: text('go'),
  });
  await says(server, 'up1\n');
  await server.client.waitFor('item/completed', ({ item }) => item.id === 'c0');
  await server.client.request('turn/steer', {
    threadId: THREAD,
    expectedTurnId: turn.id,
    input: text('more'),
  });
  await expect.poll(() => server.clock.advance(WAIT_MS) ?? server.model.requests.length).toBe(2);
  await server.client.turnCompleted(turn.id);
  const types = conversation(server.model.request(2)).map((item) =>
    'call_id' in item ? `${item.type} ${item.call_id}` : item.type,
  );
  expect(types).toEqual([
    'message',
    'function_call c0',
    'function_call c1',
    'function_call_output c0',
    'function_call_output c1',
    'message',
  ]);
  await server.client.request('thread/backgroundTerminals/clean', { threadId: THREAD });
});
