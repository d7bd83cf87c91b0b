import { describe, expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { agentItem, brief, turnOf, userItem } from '../../support/expected.ts';
import { Gate } from '../../support/gate.ts';
import { taken } from '../../support/settled.ts';
import { text } from '../../support/test-client.ts';
import {
  asked,
  conversation,
  message,
  messageBegun,
  response,
  type ScriptedResponse,
  said,
  TestModel,
} from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';

const NOTE = {
  type: 'message',
  role: 'user',
  content: [
    {
      type: 'input_text',
      text: expect.stringMatching(/^<turn_interrupted>\nThe user interrupted/),
    },
  ],
};

/** A thread whose turn gets this response. */
async function running(scripted: ScriptedResponse): Promise<TestServer & { turnId: string }> {
  const server = await startServer({ model: new TestModel(scripted) });
  await server.client.request('thread/start', {});
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('go'),
  });
  return { ...server, turnId: turn.id };
}

function interrupted(id: string) {
  return turnOf({ id, status: 'interrupted', itemsView: 'notLoaded' });
}

describe('turn/interrupt refuses', () => {
  test('a thread without a running turn, unknown threads, and another turn than the running one', async () => {
    const { client, turnId, model } = await running(response(message('ok')));
    await client.turnCompleted(turnId);
    expect([
      await client.refusal('turn/interrupt', { threadId: idOf(1), turnId }),
      await client.refusal('turn/interrupt', { threadId: idOf(9), turnId }),
      await client.refusal('turn/interrupt', { threadId: idOf(1) }),
    ]).toEqual([
      { code: -32600, message: 'no active turn to interrupt', data: { code: 'turn_not_active' } },
      {
        code: -32600,
        message: `thread not found: ${idOf(9)}`,
        data: { code: 'thread_not_found', threadId: idOf(9) },
      },
      {
        code: -32600,
        message: 'params.turnId is missing: a string is expected',
        data: { code: 'invalid_params' },
      },
    ]);
    const gate = new Gate();
    model.push(response([gate], message('ok')));
    const { turn } = await client.request('turn/start', { threadId: idOf(1), input: text('on') });
    expect(await client.refusal('turn/interrupt', { threadId: idOf(1), turnId })).toMatchObject({
      data: { code: 'turn_mismatch' },
    });
    gate.open();
    expect((await client.turnCompleted(turn.id)).status).toBe('completed');
  });
});

test('during the stream: the turn ends as interrupted, its partial message is shown, and the model is told', async () => {
  const { client, model, turnId } = await running(
    response(message('whole'), messageBegun('par', { id: 'msg_2' }), [new Gate()]),
  );
  await client.waitFor('item/agentMessage/delta', ({ delta }) => delta === 'par');
  expect(await client.request('turn/interrupt', { threadId: idOf(1), turnId })).toEqual({});
  expect(await client.turnCompleted(turnId)).toEqual(interrupted(turnId));
  expect(client.messages.slice(-2).map(({ method, params }) => [method, params])).toEqual([
    ['thread/status/changed', { threadId: idOf(1), status: { type: 'idle' } }],
    ['turn/completed', { threadId: idOf(1), turn: interrupted(turnId) }],
  ]);
  expect(client.notifications('item/completed').map(({ item }) => item)).toEqual([
    userItem('go'),
    agentItem('whole'),
  ]);
  const { thread } = await client.request('thread/read', { threadId: idOf(1), includeTurns: true });
  const turns = [
    {
      ...interrupted(turnId),
      itemsView: 'full',
      items: [userItem('go'), agentItem('whole'), agentItem('par')],
    },
  ];
  expect(thread.turns).toEqual(turns);
  expect((await client.request('thread/resume', { threadId: idOf(1) })).thread.turns).toEqual(
    turns,
  );
  model.push(response(message('again')));
  await client.turn(idOf(1), 'next');
  expect(conversation(model.request(2))).toEqual([asked('go'), said('whole'), NOTE, asked('next')]);
});

test('leaves no timer that would save the message later', async () => {
  const { client, clock, turnId } = await running(response(messageBegun('par'), [new Gate()]));
  await client.waitFor('item/agentMessage/delta');
  expect(clock.timers).toContain(500);
  await client.request('turn/interrupt', { threadId: idOf(1), turnId });
  await client.turnCompleted(turnId);
  expect(clock.timers).not.toContain(500);
});

test('before the model has said anything', async () => {
  const gate = new Gate();
  const { client, model, turnId } = await running([gate, ...response(message('late'))]);
  await model.asked(1);
  await client.request('turn/interrupt', { threadId: idOf(1), turnId });
  expect(await client.turnCompleted(turnId)).toEqual(interrupted(turnId));
  gate.open();
  await taken(client);
  expect(client.notifications('item/started').map(({ item }) => item.type)).toEqual([
    'userMessage',
  ]);
});

test('in the same write as the start of the turn', async () => {
  const server = await startServer({ model: new TestModel(response([new Gate()])) });
  await server.client.request('thread/start', {});
  server.client.send(
    JSON.stringify({
      id: 'a',
      method: 'turn/start',
      params: { threadId: idOf(1), input: text('go') },
    }),
  );
  const { result } = await server.client.first('the answer', ({ id }) => id === 'a');
  const { id } = (result as { turn: { id: string } }).turn;
  server.client.send(
    JSON.stringify({
      id: 'b',
      method: 'turn/interrupt',
      params: { threadId: idOf(1), turnId: id },
    }),
  );
  expect(await server.client.turnCompleted(id)).toEqual(interrupted(id));
  expect(server.client.messages.filter((message) => message.id === 'b')).toEqual([
    { id: 'b', result: {} },
  ]);
});

test('twice: both are answered, and the turn ends once', async () => {
  const { client, turnId } = await running(response(messageBegun('par'), [new Gate()]));
  await client.waitFor('item/agentMessage/delta');
  const params = { threadId: idOf(1), turnId };
  const answers = await Promise.all([
    client.request('turn/interrupt', params),
    client.request('turn/interrupt', params),
  ]);
  expect(answers).toEqual([{}, {}]);
  await client.turnCompleted(turnId);
  await taken(client);
  expect(client.notifications('turn/completed')).toHaveLength(1);
});

test('repeatedly, also after the end was announced, and with an empty id: each is answered', async () => {
  const { client, turnId } = await running(response(messageBegun('par'), [new Gate()]));
  await client.waitFor('item/agentMessage/delta');
  const interrupt = (id: string) =>
    client.request('turn/interrupt', { threadId: idOf(1), turnId: id });
  expect(await Promise.all([interrupt(''), interrupt(turnId), interrupt(turnId)])).toEqual([
    {},
    {},
    {},
  ]);
  await client.turnCompleted(turnId);
  expect([await interrupt(turnId), await interrupt('')]).toEqual([{}, {}]);
  expect(client.notifications('turn/completed')).toHaveLength(1);
});

test('later output of the model is not shown', async () => {
  const gate = new Gate();
  const ignoring = async function* () {
    for (const step of [...messageBegun('par'), gate, ...message('late', { id: 'msg_2' })]) {
      if (step instanceof Gate) await step.pass();
      else yield step;
    }
  };
  const { client, turnId } = await running(() => ignoring());
  await client.waitFor('item/agentMessage/delta');
  await client.request('turn/interrupt', { threadId: idOf(1), turnId });
  gate.open();
  await client.turnCompleted(turnId);
  expect(client.notifications('item/agentMessage/delta').map(({ delta }) => delta)).toEqual([
    'par',
  ]);
});

test('a turn/start right after it begins a new turn, which is answered', async () => {
  const { client, model, turnId } = await running(response(messageBegun('par'), [new Gate()]));
  await client.waitFor('item/agentMessage/delta');
  model.push(response(message('second')));
  client.send(
    JSON.stringify({ id: 'stop', method: 'turn/interrupt', params: { threadId: idOf(1), turnId } }),
  );
  const turn = await client.turn(idOf(1), 'instead');
  expect(turn).toMatchObject({ status: 'completed', items: [agentItem('second')] });
  expect(turn.id).not.toBe(turnId);
  expect((await client.turnCompleted(turnId)).status).toBe('interrupted');
  const { thread } = await client.request('thread/read', { threadId: idOf(1), includeTurns: true });
  expect(thread.turns.map(({ items }) => brief(items))).toEqual([
    ['user: go', 'agent: par'],
    ['user: instead', 'agent: second'],
  ]);
});

test('closing the server interrupts a turn too: its client is told, and the turn is stored so', async () => {
  const server = await running(response(messageBegun('par'), [new Gate()]));
  await server.client.waitFor('item/agentMessage/delta');
  const { client } = await server.restart();
  expect((await server.client.turnCompleted(server.turnId)).status).toBe('interrupted');
  const { thread } = await client.request('thread/read', { threadId: idOf(1), includeTurns: true });
  expect(thread.turns.map(({ status, items }) => [status, brief(items)])).toEqual([
    ['interrupted', ['user: go', 'agent: par']],
  ]);
});

test('the status after it is idle, also after a restart', async () => {
  const server = await running(response(messageBegun('par'), [new Gate()]));
  await server.client.waitFor('item/agentMessage/delta');
  await server.client.request('turn/interrupt', { threadId: idOf(1), turnId: server.turnId });
  await server.client.turnCompleted(server.turnId);
  expect((await server.client.request('thread/read', { threadId: idOf(1) })).thread.status).toEqual(
    { type: 'idle' },
  );
  const { client } = await server.restart();
  const { thread } = await client.request('thread/resume', { threadId: idOf(1) });
  expect(thread.turns.map(({ status, items }) => [status, brief(items)])).toEqual([
    ['interrupted', ['user: go', 'agent: par']],
  ]);
});
