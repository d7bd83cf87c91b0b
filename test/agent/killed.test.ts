import { expect, test } from 'vitest';
import { idOf } from '../support/counting-ids.ts';
import { agentItem, brief, START, turnOf, userItem } from '../support/expected.ts';
import { Gate } from '../support/gate.ts';
import { text } from '../support/test-client.ts';
import {
  asked,
  conversation,
  functionCall,
  message,
  messageBegun,
  response,
  type Step,
  said,
  TestModel,
} from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';
import { afterDeathOf } from './after-death-of.ts';

/** The model's message about a turn whose server was killed. */
const CUT_OFF = {
  type: 'message',
  role: 'user',
  content: [
    {
      type: 'input_text',
      text: expect.stringMatching(
        /^<turn_interrupted>\nThe previous turn was cut off, because the server ended/,
      ),
    },
  ],
};

async function running(...steps: (readonly Step[])[]): Promise<TestServer & { turnId: string }> {
  const server = await startServer({ model: new TestModel(response(...steps, [new Gate()])) });
  await server.client.request('thread/start', {});
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('hi'),
  });
  return { ...server, turnId: turn.id };
}

async function resumed({ client }: TestServer) {
  return (await client.request('thread/resume', { threadId: idOf(1) })).thread;
}

test('a thread exists as soon as thread/start is answered', async () => {
  const server = await startServer();
  await server.client.request('thread/start', {});
  expect(await resumed(await afterDeathOf(server))).toMatchObject({
    id: idOf(1),
    turns: [],
    status: { type: 'idle' },
  });
});

test('the input is stored as soon as turn/start is answered; the turn reads as interrupted', async () => {
  const server = await running();
  const next = await afterDeathOf(server);
  const thread = await resumed(next);
  expect([thread.preview, thread.turns]).toEqual([
    'hi',
    [turnOf({ id: server.turnId, status: 'interrupted', items: [userItem('hi')] })],
  ]);
  expect((await next.client.request('thread/list', {})).data.map(({ id }) => id)).toEqual([
    idOf(1),
  ]);
  next.model.push(response(message('back')));
  await next.client.turn(idOf(1), 'still there?');
  expect(conversation(next.model.request(1))).toEqual([
    asked('hi'),
    CUT_OFF,
    asked('still there?'),
  ]);
});

test('a message that a client has seen completed is stored, for clients and for the model', async () => {
  const server = await running(message('whole'));
  await server.client.waitFor('item/completed', ({ item }) => item.type === 'agentMessage');
  const next = await afterDeathOf(server);
  expect((await resumed(next)).turns.map(({ status, items }) => [status, items])).toEqual([
    ['interrupted', [userItem('hi'), agentItem('whole')]],
  ]);
  next.model.push(response(message('back')));
  await next.client.turn(idOf(1), 'next');
  expect(conversation(next.model.request(1))).toEqual([
    asked('hi'),
    said('whole'),
    CUT_OFF,
    asked('next'),
  ]);
});

test('a streaming message is stored with all but its latest text, and the model does not read it', async () => {
  const server = await running(messageBegun('par'));
  await server.client.waitFor('item/agentMessage/delta');
  server.clock.advance(1_000);
  const next = await afterDeathOf(server);
  expect((await resumed(next)).turns).toEqual([
    turnOf({
      id: server.turnId,
      status: 'interrupted',
      items: [userItem('hi'), agentItem('par', { completedAtMs: expect.any(Number) })],
      completedAt: expect.any(Number),
      durationMs: expect.any(Number),
    }),
  ]);
  next.model.push(response(message('back')));
  await next.client.turn(idOf(1), 'next');
  expect(conversation(next.model.request(1))).toEqual([asked('hi'), CUT_OFF, asked('next')]);
});

test('a killed turn ended at its last stored event, and reads the same before it is resumed', async () => {
  const server = await running(messageBegun('par'));
  await server.client.waitFor('item/agentMessage/delta');
  server.clock.advance(2_000);
  const next = await afterDeathOf(server);
  next.clock.advance(3_600_000);
  const read = await next.client.request('thread/read', { threadId: idOf(1), includeTurns: true });
  expect(read.thread.turns).toMatchObject([
    { status: 'interrupted', startedAt: START, durationMs: expect.any(Number) },
  ]);
  expect(read.thread.turns[0]?.durationMs).toBeLessThanOrEqual(2_000);
  expect((await resumed(next)).turns).toEqual(read.thread.turns);
});

test('the input of a turn/steer that was answered is stored', async () => {
  const server = await running(messageBegun('par'));
  await server.client.waitFor('item/agentMessage/delta');
  server.model.push([new Gate()]);
  await server.client.request('turn/steer', {
    threadId: idOf(1),
    expectedTurnId: server.turnId,
    input: text('more'),
  });
  const [turn] = (await resumed(await afterDeathOf(server))).turns;
  expect(brief(turn?.items ?? []).filter((item) => item.startsWith('user'))).toEqual([
    'user: hi',
    'user: more',
  ]);
});

test('a call without a stored output does not break the next prompt', async () => {
  const server = await startServer({
    model: new TestModel(response(functionCall('update_plan', { plan: [] })), [new Gate()]),
  });
  await server.client.request('thread/start', {});
  await server.client.request('turn/start', { threadId: idOf(1), input: text('hi') });
  await server.model.asked(2);
  const next = await afterDeathOf(server);
  await resumed(next);
  next.model.push(response(message('back')));
  await next.client.turn(idOf(1), 'next');
  expect(conversation(next.model.request(1)).map(({ type }) => type)).toEqual([
    'message',
    'function_call',
    'function_call_output',
    'message',
    'message',
  ]);
});

test('the settings of a killed turn are kept', async () => {
  const server = await startServer({ model: new TestModel([new Gate()]) });
  await server.client.request('thread/start', {});
  await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('hi'),
    model: 'turn-model',
    effort: 'high',
  });
  const next = await afterDeathOf(server);
  expect(await next.client.request('thread/resume', { threadId: idOf(1) })).toMatchObject({
    model: 'turn-model',
    reasoningEffort: 'high',
  });
});
