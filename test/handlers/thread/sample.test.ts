import { expect, test, vi } from 'vitest';
import type { ThreadStore } from '../../../src/store/thread-store.ts';
import { idOf } from '../../support/counting-ids.ts';
import { Gate } from '../../support/gate.ts';
import { gatedStore } from '../../support/gated-store.ts';
import { text } from '../../support/test-client.ts';
import {
  asked,
  conversation,
  failed,
  message,
  response,
  type Step,
  said,
  TestModel,
} from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';

const THREAD = idOf(1);
const ends = response(message('done'));

/** A server with one turn. */
async function withTurn(...later: ConstructorParameters<typeof TestModel>) {
  const server = await startServer({ model: new TestModel(ends, ...later) });
  await server.client.request('thread/start', {});
  const { id: expectedTurnId } = await server.client.turn(THREAD, 'hi');
  return { ...server, params: { threadId: THREAD, expectedTurnId, prompt: 'Why?' } };
}

test('thread/sample asks the model behind the history, and leaves no trace', async () => {
  const { client, model, params } = await withTurn(response(message('Because.')), ends);
  const before = client.messages.length;
  const metadata = { responsesapiClientMetadata: { purpose: 'title' } };
  const { responseId: _, ...answer } = await client.request('thread/sample', {
    ...params,
    effort: 'low',
    ...metadata,
  });
  expect(answer).toEqual({
    sourceTurnId: params.expectedTurnId,
    text: 'Because.',
    inputTokens: 10,
    cachedInputTokens: 4,
    outputTokens: 5,
  });
  expect(conversation(model.request(2))).toEqual([asked('hi'), said('done'), asked('Why?')]);
  expect(model.request(2)).toMatchObject({
    tools: [],
    effort: 'low',
    clientMetadata: { thread_id: THREAD, purpose: 'title' },
  });
  expect(client.messages.slice(before).filter(({ method }) => method !== undefined)).toEqual([]);
  await client.turn(THREAD, 'next');
  expect(conversation(model.request(3))).toEqual([asked('hi'), said('done'), asked('next')]);
});

test('thread/sample/cancel ends the request of this id of the same connection only', async () => {
  const server = await withTurn([new Gate()]);
  const { client, model, params } = server;
  const other = await server.connect();
  client.send(JSON.stringify({ id: 'mine', method: 'thread/sample', params }));
  await model.asked(2);
  await other.request('thread/sample/cancel', { requestId: 'mine' });
  await client.request('thread/sample/cancel', { requestId: 'other' });
  expect(client.messages.filter(({ id }) => id === 'mine')).toEqual([]);
  await client.request('thread/sample/cancel', { requestId: 'mine' });
  const refusal = await client.first('the refusal', ({ id }) => id === 'mine');
  expect(refusal.error).toMatchObject({ code: -32600, data: { code: 'sample_cancelled' } });
});

test('during a turn it is refused unless allowed, and its cancel can interrupt the turn', async () => {
  const { client, model, params } = await withTurn([new Gate()], [new Gate()]);
  const { turn } = await client.request('turn/start', { threadId: THREAD, input: text('go') });
  await model.asked(2);
  const running = { ...params, expectedTurnId: turn.id };
  expect(await client.refusal('thread/sample', running)).toMatchObject({
    data: { code: 'turn_active' },
  });
  client.send(
    JSON.stringify({
      id: 77,
      method: 'thread/sample',
      params: { ...running, allowInProgressTurn: true, interruptOnCancel: true },
    }),
  );
  await model.asked(3);
  await client.request('thread/sample/cancel', { requestId: 77 });
  expect(await client.turnCompleted(turn.id)).toMatchObject({ status: 'interrupted' });
});

test('another turn than the last, a thread without turns, and an error of the model', async () => {
  const { client, params } = await withTurn([failed('the provider is down')]);
  expect(await client.refusal('thread/sample', { ...params, expectedTurnId: 'x' })).toMatchObject({
    data: { code: 'turn_mismatch' },
  });
  expect(await client.refusal('thread/sample', params)).toMatchObject({
    code: -32603,
    message: expect.stringContaining('the provider is down'),
  });
  const { thread } = await client.request('thread/start', {});
  expect(await client.refusal('thread/sample', { ...params, threadId: thread.id })).toMatchObject({
    data: { code: 'turn_not_found' },
  });
});

test('a cancel that comes right behind its request ends it', async () => {
  const { client, params } = await withTurn([new Gate()]);
  const sample = JSON.stringify({ id: 'mine', method: 'thread/sample', params });
  const cancel = JSON.stringify({
    id: 'c',
    method: 'thread/sample/cancel',
    params: { requestId: 'mine' },
  });
  client.send(`${sample}\n${cancel}`);
  expect((await client.first('the refusal', ({ id }) => id === 'mine')).error).toMatchObject({
    data: { code: 'sample_cancelled' },
  });
});

test('a cancel that comes right behind its request can interrupt the turn', async () => {
  const { client, model, params } = await withTurn([new Gate()], [new Gate()]);
  const { turn } = await client.request('turn/start', { threadId: THREAD, input: text('go') });
  await model.asked(2);
  const more = {
    ...params,
    expectedTurnId: turn.id,
    allowInProgressTurn: true,
    interruptOnCancel: true,
  };
  const sample = JSON.stringify({ id: 'mine', method: 'thread/sample', params: more });
  client.send(
    `${sample}\n${JSON.stringify({ id: 'c', method: 'thread/sample/cancel', params: { requestId: 'mine' } })}`,
  );
  expect(await client.turnCompleted(turn.id)).toMatchObject({ status: 'interrupted' });
  expect((await client.first('the refusal', ({ id }) => id === 'mine')).error).toMatchObject({
    data: { code: 'sample_cancelled' },
  });
});

test('a request with an id above 2^53 can be cancelled', async () => {
  const { client, model, params } = await withTurn([new Gate()]);
  client.send(
    `{"id":9007199254740993,"method":"thread/sample","params":${JSON.stringify(params)}}`,
  );
  await model.asked(2);
  client.send('{"id":"c","method":"thread/sample/cancel","params":{"requestId":9007199254740993}}');
  const refusal = await client.first('the refusal', ({ error }) => error !== undefined);
  expect(refusal.error).toMatchObject({ data: { code: 'sample_cancelled' } });
});

test('the request of a client that goes away ends', async () => {
  const gate = new Gate();
  const server = await withTurn([gate]);
  const other = await server.connect();
  other.send(JSON.stringify({ id: 'mine', method: 'thread/sample', params: server.params }));
  await server.model.asked(2);
  const timers = server.clock.timers.length;
  const closed = other.close();
  await vi.waitFor(() => expect(server.clock.timers.length).toBeGreaterThan(timers), {
    timeout: 30_000,
  });
  server.clock.advance(1_000);
  const refusal = await other.first('the refusal', ({ id }) => id === 'mine');
  expect(refusal.error).toMatchObject({ data: { code: 'sample_cancelled' } });
  await closed;
});

test('a turn that begins while the last one is read is not sampled in the middle', async () => {
  const gate = new Gate();
  let isGated = false;
  const wrapStore = (store: ThreadStore): ThreadStore => ({
    ...gatedStore(store, () => {}),
    listTurns: async (...args) => {
      const read = await store.listTurns(...args);
      if (isGated) await gate.pass();
      return read;
    },
  });
  const server = await startServer({ model: new TestModel(ends, [new Gate()]), wrapStore });
  await server.client.request('thread/start', {});
  const { id: expectedTurnId } = await server.client.turn(THREAD, 'hi');
  isGated = true;
  const refusal = server.client.refusal('thread/sample', {
    threadId: THREAD,
    expectedTurnId,
    prompt: 'Why?',
  });
  await gate.reached;
  const other = await server.connect();
  await other.request('turn/start', { threadId: THREAD, input: text('go') });
  gate.open();
  expect(await refusal).toMatchObject({ data: { code: 'turn_mismatch' } });
});

test('an error of the model keeps its kind, and the response has the id that the provider gave', async () => {
  const named: Step[] = response(message('Because.')).slice(0, -1);
  const { client, params } = await withTurn(
    [failed('used up', 'usageLimitExceeded')],
    [...named, { type: 'completed', usage: null, responseId: 'resp_1' }],
  );
  expect(await client.refusal('thread/sample', params)).toMatchObject({
    code: -32603,
    message: 'used up',
    data: { code: 'model_failed', codexErrorInfo: 'usageLimitExceeded' },
  });
  expect(await client.request('thread/sample', params)).toMatchObject({
    responseId: 'resp_1',
    inputTokens: null,
  });
});
