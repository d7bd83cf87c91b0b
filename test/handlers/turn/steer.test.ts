import { describe, expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { agentItem, brief, userItem } from '../../support/expected.ts';
import { Gate } from '../../support/gate.ts';
import { text } from '../../support/test-client.ts';
import {
  asked,
  conversation,
  functionCall,
  message,
  messageBegun,
  response,
  said,
  TestModel,
} from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';

/** A thread whose turn has streamed "par" and waits. */
async function running(): Promise<TestServer & { gate: Gate; turnId: string }> {
  const gate = new Gate();
  const server = await startServer({ model: new TestModel(response(messageBegun('par'), [gate])) });
  await server.client.request('thread/start', {});
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('go'),
  });
  await server.client.waitFor('item/agentMessage/delta');
  return { ...server, gate, turnId: turn.id };
}

describe('turn/steer refuses', () => {
  test('a thread without a running turn, before and after a turn', async () => {
    const { client, model } = await startServer();
    await client.request('thread/start', {});
    const none = {
      code: -32600,
      message: 'no active turn to steer',
      data: { code: 'turn_not_active' },
    };
    const steer = { threadId: idOf(1), expectedTurnId: idOf(2), input: text('more') };
    expect(await client.refusal('turn/steer', steer)).toEqual(none);
    model.push(response(message('ok')));
    const turn = await client.turn(idOf(1), 'hi');
    expect(await client.refusal('turn/steer', { ...steer, expectedTurnId: turn.id })).toEqual(none);
  });

  test('another turn than the running one, and names both; unknown threads; no turn id; no input; too much input', async () => {
    const { client, model, turnId } = await running();
    const refused = (params: object) =>
      client.refusal('turn/steer', {
        threadId: idOf(1),
        expectedTurnId: turnId,
        input: text('more'),
        ...params,
      });
    expect([
      await refused({ expectedTurnId: 'wrong' }),
      await refused({ threadId: idOf(9) }),
      await refused({ expectedTurnId: undefined }),
      await refused({ input: [] }),
      await refused({ input: text('x'.repeat(1_048_577)) }),
    ]).toEqual([
      {
        code: -32600,
        message: `expected active turn id \`wrong\` but found \`${turnId}\``,
        data: { code: 'turn_mismatch', expectedTurnId: 'wrong', foundTurnId: turnId },
      },
      {
        code: -32600,
        message: `thread not found: ${idOf(9)}`,
        data: { code: 'thread_not_found', threadId: idOf(9) },
      },
      {
        code: -32600,
        message: 'params.expectedTurnId is missing: a string is expected',
        data: { code: 'invalid_params' },
      },
      { code: -32600, message: 'input must not be empty', data: { code: 'empty_input' } },
      {
        code: -32602,
        message: expect.any(String),
        data: {
          code: 'input_too_large',
          input_error_code: 'input_too_large',
          max_chars: 1_048_576,
          actual_chars: 1_048_577,
        },
      },
    ]);
    expect(model.requests).toHaveLength(1);
  });

  test('a turn that has just been interrupted', async () => {
    const { client, turnId } = await running();
    client.send(
      JSON.stringify({ id: 'a', method: 'turn/interrupt', params: { threadId: idOf(1), turnId } }),
    );
    const refusal = await client.refusal('turn/steer', {
      threadId: idOf(1),
      expectedTurnId: turnId,
      input: text('more'),
    });
    expect(refusal).toEqual({
      code: -32600,
      message: 'no active turn to steer',
      data: { code: 'turn_not_active' },
    });
  });
});

test('turn/steer stops the stream and asks the model again with the new input', async () => {
  const { client, model, turnId } = await running();
  model.push(response(message('after')));
  const params = {
    threadId: idOf(1),
    expectedTurnId: turnId,
    input: text('more'),
    clientUserMessageId: 'mine',
  };
  expect(await client.request('turn/steer', params)).toEqual({ turnId });
  expect(await client.turnCompleted(turnId)).toMatchObject({
    status: 'completed',
    items: [agentItem('after')],
  });
  expect(model.requests).toHaveLength(2);
  expect(conversation(model.request(2))).toEqual([asked('go'), asked('more')]);
  const completed = client.notifications('item/completed').map(({ item }) => item);
  expect(completed).toEqual([
    userItem('go'),
    userItem('more', { clientId: 'mine' }),
    agentItem('after'),
  ]);
  const { thread } = await client.request('thread/read', { threadId: idOf(1), includeTurns: true });
  expect(thread.turns.map(({ items }) => items)).toEqual([completed]);
  expect(client.notifications('turn/started')).toHaveLength(1);
});

test('the response to turn/steer comes before the item that it adds', async () => {
  const { client, model, turnId } = await running();
  model.push(response(message('after')));
  const before = client.messages.length;
  await client.request('turn/steer', {
    threadId: idOf(1),
    expectedTurnId: turnId,
    input: text('more'),
  });
  await client.turnCompleted(turnId);
  const [first, second] = client.messages.slice(before);
  expect([first?.result, second?.method]).toEqual([{ turnId }, 'item/started']);
});

test('several inputs at once all reach the model, in their order', async () => {
  const { client, model, turnId } = await running();
  for (const [index, method] of [
    'turn/steer',
    'turn/start',
    'turn/steer',
    'turn/start',
  ].entries()) {
    client.send(
      JSON.stringify({
        id: `s${index}`,
        method,
        params: { threadId: idOf(1), expectedTurnId: turnId, input: text(`more ${index}`) },
      }),
    );
  }
  for (let count = 0; count < 4; count++) model.push(response(message('after')));
  await client.turnCompleted(turnId);
  const last = conversation(model.request(model.requests.length));
  expect(last.filter((item) => 'role' in item && item.role === 'user')).toEqual([
    asked('go'),
    ...[0, 1, 2, 3].map((n) => asked(`more ${n}`)),
  ]);
  const { thread } = await client.request('thread/read', { threadId: idOf(1), includeTurns: true });
  expect(thread.turns).toHaveLength(1);
});

test('items that the model had completed stay, and are sent to it again', async () => {
  const gate = new Gate();
  const server = await startServer({
    model: new TestModel(
      response(message('whole'), messageBegun('par', { id: 'msg_2' }), [gate]),
      response(message('after')),
    ),
  });
  await server.client.request('thread/start', {});
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('go'),
  });
  await server.client.waitFor('item/agentMessage/delta', ({ delta }) => delta === 'par');
  await server.client.request('turn/steer', {
    threadId: idOf(1),
    expectedTurnId: turn.id,
    input: text('more'),
  });
  await server.client.turnCompleted(turn.id);
  expect(conversation(server.model.request(2))).toEqual([
    asked('go'),
    said('whole'),
    asked('more'),
  ]);
  const { thread } = await server.client.request('thread/read', {
    threadId: idOf(1),
    includeTurns: true,
  });
  expect(brief(thread.turns[0]?.items ?? [])).toEqual([
    'user: go',
    'agent: whole',
    'user: more',
    'agent: after',
  ]);
});

test('during a tool call, the new input is sent with the output of the call', async () => {
  const server = await startServer({ model: new TestModel() });
  await server.client.request('thread/start', {});
  const gate = new Gate();
  server.model.push(
    response(functionCall('update_plan', { plan: [] }), [gate]),
    response(message('after')),
  );
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('go'),
  });
  await gate.reached;
  await server.client.request('turn/steer', {
    threadId: idOf(1),
    expectedTurnId: turn.id,
    input: text('more'),
  });
  gate.open();
  expect(await server.client.turnCompleted(turn.id)).toMatchObject({ status: 'completed' });
  expect(conversation(server.model.request(2)).at(-1)).toEqual(asked('more'));
});

test('additionalContext of turn/steer reaches the model', async () => {
  const { client, model, turnId } = await running();
  model.push(response(message('after')));
  await client.request('turn/steer', {
    threadId: idOf(1),
    expectedTurnId: turnId,
    input: text('more'),
    additionalContext: { page: { value: 'seen', kind: 'untrusted' } },
  });
  await client.turnCompleted(turnId);
  expect(conversation(model.request(2))).toEqual([
    asked('go'),
    asked('<context name="page">\nseen\n</context>'),
    asked('more'),
  ]);
});
