import { expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { Gate } from '../../support/gate.ts';
import { text } from '../../support/test-client.ts';
import { asked, conversation, failed, message, response, said, TestModel } from '../../support/test-model.ts';
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
  const { responseId: _, ...answer } = await client.request('thread/sample', { ...params, effort: 'low', ...metadata });
  expect(answer).toEqual({ sourceTurnId: params.expectedTurnId, text: 'Because.', inputTokens: 10, cachedInputTokens: 4, outputTokens: 5 });
  expect(conversation(model.request(2))).toEqual([asked('hi'), said('done'), asked('Why?')]);
  expect(model.request(2)).toMatchObject({ tools: [], effort: 'low', clientMetadata: { thread_id: THREAD, purpose: 'title' } });
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
  expect(await client.refusal('thread/sample', running)).toMatchObject({ data: { code: 'turn_active' } });
  client.send(
    JSON.stringify({ id: 77, method: 'thread/sample', params: { ...running, allowInProgressTurn: true, interruptOnCancel: true } }),
  );
  await model.asked(3);
  await client.request('thread/sample/cancel', { requestId: 77 });
  expect(await client.turnCompleted(turn.id)).toMatchObject({ status: 'interrupted' });
});

test('another turn than the last, a thread without turns, and an error of the model', async () => {
  const { client, params } = await withTurn([failed('the provider is down')]);
  expect(await client.refusal('thread/sample', { ...params, expectedTurnId: 'x' })).toMatchObject({ data: { code: 'turn_mismatch' } });
  expect(await client.refusal('thread/sample', params)).toMatchObject({
    code: -32603,
    message: expect.stringContaining('the provider is down'),
  });
  const { thread } = await client.request('thread/start', {});
  expect(await client.refusal('thread/sample', { ...params, threadId: thread.id })).toMatchObject({ data: { code: 'turn_not_found' } });
});
