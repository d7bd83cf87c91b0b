import { describe, expect, test } from 'vitest';
import { idOf } from '../support/counting-ids.ts';
import { ANY_ID, agentItem, brief, timed, turnOf, userItem } from '../support/expected.ts';
import { Gate } from '../support/gate.ts';
import { text } from '../support/test-client.ts';
import {
  asked,
  calls,
  conversation,
  errorOf,
  failed,
  functionCall,
  message,
  messageBegun,
  reasoning,
  response,
  retrying,
  said,
  TestModel,
  USAGE,
} from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';
import { threadAnswering } from '../support/thread-with.ts';

async function readTurns({ client }: TestServer) {
  return (await client.request('thread/read', { threadId: idOf(1), includeTurns: true })).thread
    .turns;
}

const limit = errorOf('The limit is reached.', 'usageLimitExceeded');

describe('a model that fails', () => {
  test('fails the turn: an error that is not retried, status systemError, and the end with the same error', async () => {
    const server = await threadAnswering([
      [{ type: 'started' }, failed(limit.message, limit.codexErrorInfo)],
    ]);
    const { id } = await server.client.turn(idOf(1), 'hi');
    const turn = turnOf({ id, status: 'failed', itemsView: 'notLoaded', error: limit });
    expect(
      server.client.messages.slice(-3).map(({ method, params }) => ({ method, params })),
    ).toEqual([
      {
        method: 'thread/status/changed',
        params: { threadId: idOf(1), status: { type: 'systemError' } },
      },
      {
        method: 'error',
        params: { threadId: idOf(1), turnId: id, error: limit, willRetry: false },
      },
      { method: 'turn/completed', params: { threadId: idOf(1), turn } },
    ]);
    expect(
      (await server.client.request('thread/read', { threadId: idOf(1) })).thread.status,
    ).toEqual({ type: 'systemError' });
    expect(await readTurns(server)).toEqual([
      { ...turn, itemsView: 'full', items: [userItem('hi')] },
    ]);
  });

  test('does not affect the next turn, and its own turn stays failed in the history', async () => {
    const server = await threadAnswering([
      [failed(limit.message, limit.codexErrorInfo)],
      response(message('ok')),
    ]);
    await server.client.turn(idOf(1), 'one');
    expect(await server.client.turn(idOf(1), 'two')).toMatchObject({
      status: 'completed',
      items: [agentItem('ok')],
    });
    expect(
      (await server.client.request('thread/read', { threadId: idOf(1) })).thread.status,
    ).toEqual({ type: 'idle' });
    const { client } = await server.restart();
    const { thread } = await client.request('thread/resume', { threadId: idOf(1) });
    expect(thread.turns.map(({ status, error, items }) => [status, error, brief(items)])).toEqual([
      ['failed', limit, ['user: one']],
      ['completed', null, ['user: two', 'agent: ok']],
    ]);
  });

  test('in the middle of a message: its text so far is shown, it never completes, and the model does not read it', async () => {
    const server = await threadAnswering([
      [...messageBegun('par'), failed('cut')],
      response(message('ok')),
    ]);
    await server.client.turn(idOf(1), 'one');
    expect(server.client.notifications('item/completed').map(({ item }) => item)).toEqual([
      userItem('one'),
    ]);
    expect((await readTurns(server))[0]?.items).toEqual([userItem('one'), agentItem('par')]);
    await server.client.turn(idOf(1), 'two');
    expect(conversation(server.model.request(2))).toEqual([asked('one'), asked('two')]);
    const { client } = await server.restart();
    const { thread } = await client.request('thread/resume', { threadId: idOf(1) });
    expect(thread.turns.map(({ items }) => brief(items))).toEqual([
      ['user: one', 'agent: par'],
      ['user: two', 'agent: ok'],
    ]);
  });

  test('in the middle of reasoning: the reasoning so far is shown, and the model does not read it', async () => {
    const server = await threadAnswering([
      [...reasoning('bec').slice(0, -1), failed('cut')],
      response(message('ok')),
    ]);
    await server.client.turn(idOf(1), 'one');
    expect((await readTurns(server))[0]?.items).toEqual([
      userItem('one'),
      timed({ type: 'reasoning', id: ANY_ID, summary: ['bec'], content: [] }),
    ]);
    await server.client.turn(idOf(1), 'two');
    expect(conversation(server.model.request(2))).toEqual([asked('one'), asked('two')]);
  });

  test('after a whole message: the message stays, for clients and for the model; reasoning after it is not sent', async () => {
    const server = await threadAnswering([
      [...message('whole'), ...reasoning('because'), failed('cut')],
      response(message('ok')),
    ]);
    await server.client.turn(idOf(1), 'one');
    expect((await readTurns(server))[0]?.items.map(({ type }) => type)).toEqual([
      'userMessage',
      'agentMessage',
      'reasoning',
    ]);
    await server.client.turn(idOf(1), 'two');
    expect(conversation(server.model.request(2))).toEqual([
      asked('one'),
      said('whole'),
      asked('two'),
    ]);
  });

  test('after a call: the call runs, and the model reads it and its output in the next turn', async () => {
    const server = await threadAnswering([
      [...functionCall('update_plan', { plan: [] }), failed('cut')],
      response(message('ok')),
    ]);
    await server.client.turn(idOf(1), 'one');
    expect(server.client.notifications('turn/plan/updated')).toHaveLength(1);
    await server.client.turn(idOf(1), 'two');
    expect(conversation(server.model.request(2))).toEqual([
      asked('one'),
      calls('update_plan', { plan: [] }),
      { type: 'function_call_output', call_id: 'call_1', output: expect.any(String) },
      asked('two'),
    ]);
  });

  test('in the second request of a turn fails the turn, and the items of the first request are kept', async () => {
    const server = await threadAnswering([
      response(functionCall('update_plan', { plan: [] })),
      [failed('cut')],
      response(message('ok')),
    ]);
    expect((await server.client.turn(idOf(1), 'one')).status).toBe('failed');
    await server.client.turn(idOf(1), 'two');
    expect(conversation(server.model.request(3)).map(({ type }) => type)).toEqual([
      'message',
      'function_call',
      'function_call_output',
      'message',
    ]);
  });

  test('when new input has just arrived: the input is in the history, and the model reads it in the next turn', async () => {
    const gate = new Gate();
    const failing = async function* () {
      await gate.pass();
      yield failed('cut');
    };
    const server = await threadAnswering([
      () => failing(),
      response(message('ok')),
      response(message('spare')),
    ]);
    const { turn } = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('one'),
    });
    await gate.reached;
    await server.client.request('turn/steer', {
      threadId: idOf(1),
      expectedTurnId: turn.id,
      input: text('two'),
    });
    gate.open();
    await server.client.turnCompleted(turn.id);
    await server.client.turn(idOf(1), 'three');
    const last = conversation(server.model.request(server.model.requests.length));
    expect(last.filter((item) => 'role' in item && item.role === 'user')).toEqual([
      asked('one'),
      asked('two'),
      asked('three'),
    ]);
  });
});

describe('a model that retries', () => {
  test('announces the retry, and its unfinished items are dropped', async () => {
    const gate = new Gate();
    const server = await threadAnswering([
      [
        { type: 'started' },
        ...messageBegun('par'),
        retrying('The stream broke.'),
        { type: 'started' },
        gate,
        ...message('whole', { id: 'msg_2' }),
        { type: 'completed', usage: USAGE },
      ],
    ]);
    const { turn } = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('hi'),
    });
    gate.open();
    expect(await server.client.turnCompleted(turn.id)).toMatchObject({
      status: 'completed',
      items: [agentItem('whole')],
    });
    expect(server.client.notifications('error')).toEqual([
      {
        threadId: idOf(1),
        turnId: turn.id,
        error: errorOf('The stream broke.', {
          responseStreamDisconnected: { httpStatusCode: null },
        }),
        willRetry: true,
      },
    ]);
    expect(brief(server.client.notifications('item/completed').map(({ item }) => item))).toEqual([
      'user: hi',
      'agent: whole',
    ]);
    expect((await readTurns(server)).map(({ items }) => brief(items))).toEqual([
      ['user: hi', 'agent: whole'],
    ]);
  });

  test('and calls a tool in both attempts calls it once', async () => {
    const server = await threadAnswering([
      [...functionCall('update_plan', { plan: [] }, { callId: 'a' }), retrying('cut')],
      response(functionCall('update_plan', { plan: [] }, { callId: 'a' })),
      response(message('done')),
    ]);
    await server.client.turn(idOf(1), 'hi');
    expect(server.client.notifications('turn/plan/updated')).toHaveLength(1);
    expect(
      conversation(server.model.request(3)).flatMap((item) =>
        'call_id' in item ? item.call_id : [],
      ),
    ).toEqual(['a', 'a']);
  });

  test('no longer shows its unfinished items, while the turn goes on', async () => {
    const gate = new Gate();
    const server = await threadAnswering([
      [
        ...messageBegun('par'),
        retrying('cut'),
        gate,
        ...message('whole', { id: 'm2' }),
        failed('cut'),
      ],
    ]);
    await server.client.request('turn/start', { threadId: idOf(1), input: text('hi') });
    await gate.reached;
    expect((await readTurns(server)).map(({ items }) => items)).toEqual([[userItem('hi')]]);
  });

  test('keeps its completed items: clients have seen them, and the model reads them', async () => {
    const server = await threadAnswering([
      [...message('first try'), retrying('cut')],
      response(message('second try', { id: 'm2' })),
      response(message('ok')),
    ]);
    await server.client.turn(idOf(1), 'one');
    await server.client.turn(idOf(1), 'two');
    expect(conversation(server.model.request(2))).toEqual([asked('one'), said('first try')]);
    expect(conversation(server.model.request(3))).toEqual([
      asked('one'),
      said('first try'),
      said('second try'),
      asked('two'),
    ]);
    expect(brief((await readTurns(server))[0]?.items ?? [])).toEqual([
      'user: one',
      'agent: first try',
      'agent: second try',
    ]);
  });

  test('and fails in the end fails the turn, with the unfinished items of the last attempt', async () => {
    const server = await threadAnswering([
      [
        ...messageBegun('one'),
        retrying('cut'),
        ...messageBegun('two', { id: 'm2' }),
        failed('gave up'),
      ],
    ]);
    expect(await server.client.turn(idOf(1), 'hi')).toMatchObject({
      status: 'failed',
      error: errorOf('gave up'),
    });
    expect(server.client.notifications('error').map(({ willRetry }) => willRetry)).toEqual([
      true,
      false,
    ]);
    expect(brief((await readTurns(server))[0]?.items ?? [])).toEqual(['user: hi', 'agent: two']);
  });
});

describe('a model that breaks its contract', () => {
  test('by throwing: the turn fails, the next one works, and the log has the cause', async () => {
    const throwing = async function* () {
      yield* messageBegun('par');
      throw new Error('out of order');
    };
    const server = await threadAnswering([() => throwing(), response(message('ok'))]);
    expect(await server.client.turn(idOf(1), 'hi')).toMatchObject({
      status: 'failed',
      error: {
        message: 'The turn failed inside the server: out of order',
        codexErrorInfo: 'internalServerError',
      },
    });
    expect(server.log.takeErrors()).toEqual(['a turn failed inside the server']);
    expect((await readTurns(server))[0]?.items).toEqual([userItem('hi'), agentItem('par')]);
    expect((await server.client.turn(idOf(1), 'two')).status).toBe('completed');
  });

  test('by throwing before its stream: the same', async () => {
    const server = await threadAnswering([
      () => {
        throw new Error('not today');
      },
    ]);
    expect((await server.client.turn(idOf(1), 'hi')).status).toBe('failed');
    expect(server.log.takeErrors()).toEqual(['a turn failed inside the server']);
  });

  test('by ending its stream without a final event: the turn fails', async () => {
    class EndlessModel extends TestModel {
      override async *stream() {
        yield* messageBegun('par');
      }
    }
    const server = await startServer({ model: new EndlessModel() });
    await server.client.request('thread/start', {});
    expect((await server.client.turn(idOf(1), 'hi')).status).toBe('failed');
  });

  test('by going on after its final event: the rest is not read', async () => {
    const server = await threadAnswering([
      [...response(message('ok')), ...message('more', { id: 'm2' })],
    ]);
    await server.client.turn(idOf(1), 'hi');
    expect(brief((await readTurns(server))[0]?.items ?? [])).toEqual(['user: hi', 'agent: ok']);
  });
});
