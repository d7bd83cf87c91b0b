import { expect, test } from 'vitest';
import type { ModelEvent } from '../../src/model/model.ts';
import { idOf } from '../support/counting-ids.ts';
import { text } from '../support/test-client.ts';
import { message, messageBegun, response, said, TestModel } from '../support/test-model.ts';
import { listeningServer } from './listening-server.ts';

const threadId = idOf(1);
const KIBIBYTE = 1024;
const DELTAS = 4_000;

/** A response of many deltas, each with its number. */
class TalkingModel extends TestModel {
  override async *stream(): AsyncGenerator<ModelEvent> {
    yield* messageBegun('.');
    // Without a pause: only the turn lets the others of this process do something.
    for (let count = 0; count < DELTAS; count++)
      yield { type: 'textDelta', itemId: 'msg_1', delta: `${count} ${'x'.repeat(8 * KIBIBYTE)}` };
    yield { type: 'itemCompleted', item: { ...said('that was it'), id: 'msg_1' } };
    yield { type: 'completed', usage: null };
  }
}

test('a client that does not read is cut off with 1013, and holds neither the turn nor the others', async () => {
  const server = await listeningServer({ model: new TalkingModel() });
  const slow = await server.join();
  const reading = await server.join();
  await reading.request('thread/start', {});
  await slow.request('thread/resume', { threadId });
  slow.socket.pause();
  const { turn } = await reading.request('turn/start', { threadId, input: text('hi') });
  // The turn ends while the other has not read anything.
  expect((await reading.turnCompleted(turn.id)).status).toBe('completed');
  expect(slow.notifications('item/agentMessage/delta')).toEqual([]);
  slow.socket.resume();
  expect((await slow.closed).code).toBe(1013);
  const numbers = (client: typeof slow) =>
    client.notifications('item/agentMessage/delta').map(({ delta }) => delta.split(' ')[0]);
  const all = numbers(reading);
  expect(all).toEqual(['.', ...Array.from({ length: DELTAS }, (_, index) => `${index}`)]);
  // It got what had been written, without a gap.
  const some = numbers(slow);
  expect(some).toEqual(all.slice(0, some.length));
  expect(some.length).toBeLessThan(all.length);
  // It can come back.
  const again = await server.join();
  await again.request('thread/resume', { threadId });
});

test('a client that reads late what it has asked for is not cut off', async () => {
  const COUNT = 80;
  const server = await listeningServer({
    model: new TestModel(response(message('x'.repeat(512 * KIBIBYTE)))),
  });
  const client = await server.join();
  await client.request('thread/start', {});
  await client.turn(threadId, 'hi');
  const heard = client.messages.length;
  client.socket.pause();
  const params = { threadId, includeTurns: true };
  for (let id = 1; id <= COUNT; id++)
    client.send(JSON.stringify({ id: `${id}`, method: 'thread/read', params }));
  await client.opened;
  await server.client.request('thread/read', params);
  client.socket.resume();
  await client.first('the last answer', ({ id }) => id === `${COUNT}`);
  const answers = client.messages.slice(heard).filter(({ result }) => result !== undefined);
  expect(answers.map(({ id }) => id)).toEqual(
    Array.from({ length: COUNT }, (_, index) => `${index + 1}`),
  );
});
