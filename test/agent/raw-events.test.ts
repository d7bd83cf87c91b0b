import { expect, test } from 'vitest';
import { answer, question } from '../support/asking.ts';
import { idOf } from '../support/counting-ids.ts';
import { type TestClient, text } from '../support/test-client.ts';
import {
  functionCall,
  message,
  reasoning,
  response,
  TestModel,
  USAGE,
} from '../support/test-model.ts';
import { startServer } from '../support/test-server.ts';

/** The content of a raw event: the type of its item, with its role or its text. */
function brief({ messages }: TestClient): string[] {
  return messages.flatMap(({ method = '', params }) => {
    if (method === 'rawResponse/completed') return ['response'];
    if (method !== 'rawResponseItem/completed') return [];
    const { item } = params as { item: { type: string; role?: string } };
    return [item.type === 'message' ? `message ${item.role}` : item.type];
  });
}

function methods({ messages }: TestClient): string[] {
  return messages.flatMap(({ method }) => (method === undefined ? [] : [method]));
}

const LOOKUP = { name: 'lookup', description: 'd', inputSchema: {} };

test('experimentalRawEvents shows everything that the model reads and says, in its order', async () => {
  const model = new TestModel(response(reasoning('think'), functionCall('lookup', { id: '7' })), [
    { type: 'started' },
    ...message('done'),
    { type: 'completed', usage: USAGE, responseId: 'resp_2' },
  ]);
  const { client } = await startServer({ model });
  await client.request('thread/start', {
    experimentalRawEvents: true,
    developerInstructions: 'DEV',
    dynamicTools: [LOOKUP],
  });
  const { turn } = await client.request('turn/start', { threadId: idOf(1), input: text('hi') });
  const result = { contentItems: [{ type: 'inputText', text: 'found' }], success: false };
  answer(client, await question(client, 'item/tool/call'), result);
  await client.turnCompleted(turn.id);
  expect(brief(client)).toEqual([
    'message developer',
    'message user',
    'message user',
    'reasoning',
    'function_call',
    'response',
    'function_call_output',
    'message assistant',
    'response',
  ]);
  const ids = { threadId: idOf(1), turnId: turn.id };
  const items = client.notifications('rawResponseItem/completed');
  expect(items.every((each) => each.threadId === ids.threadId && each.turnId === ids.turnId)).toBe(
    true,
  );
  expect(items.map(({ item }) => item)).toMatchObject([
    {
      content: expect.arrayContaining([
        { type: 'input_text', text: expect.stringContaining('DEV') },
      ]),
    },
    {},
    { content: [{ type: 'input_text', text: 'hi' }] },
    { summary: [{ text: 'think' }] },
    { call_id: 'call_1', arguments: '{"id":"7"}' },
    { call_id: 'call_1', output: 'found' },
    { content: [{ type: 'output_text', text: 'done' }] },
  ]);
  expect(client.notifications('rawResponse/completed')).toEqual([
    // The provider gives none.
    { ...ids, responseId: expect.any(String), usage: USAGE },
    { ...ids, responseId: 'resp_2', usage: USAGE },
  ]);
  const all = methods(client);
  expect(all.indexOf('turn/started')).toBeLessThan(all.indexOf('rawResponseItem/completed'));
  expect(all.lastIndexOf('rawResponse/completed')).toBeLessThan(all.indexOf('turn/completed'));
  expect(
    client.messages.findIndex(({ result: started }) =>
      JSON.stringify(started ?? '').includes('inProgress'),
    ),
  ).toBeLessThan(client.messages.findIndex(({ method }) => method === 'rawResponseItem/completed'));
});

test('only the client that asked gets them, and none of a fork, or after a restart', async () => {
  const model = new TestModel(...[1, 2, 3, 4].map(() => response(message('ok'))));
  const server = await startServer({ model });
  await server.client.request('thread/start', { experimentalRawEvents: true });
  const other = await server.connect();
  await other.request('thread/resume', { threadId: idOf(1) });
  await server.client.turn(idOf(1), 'one');
  const before = brief(server.client).length;
  expect([before > 0, brief(other)]).toEqual([true, []]);
  const fork = (await server.client.request('thread/fork', { threadId: idOf(1) })).thread.id;
  await server.client.turn(fork, 'two');
  expect(brief(server.client)).toHaveLength(before);
  const again = await server.restart();
  await again.client.request('thread/resume', { threadId: idOf(1) });
  await again.client.turn(idOf(1), 'three');
  expect(brief(again.client)).toEqual([]);
});

test('a client that unsubscribes gets none any more', async () => {
  const model = new TestModel(response(message('ok')));
  const { client, connect } = await startServer({ model });
  await client.request('thread/start', { experimentalRawEvents: true });
  const other = await connect();
  await other.request('thread/resume', { threadId: idOf(1) });
  await client.request('thread/unsubscribe', { threadId: idOf(1) });
  await other.turn(idOf(1), 'one');
  expect(brief(client)).toEqual([]);
});

test('input that joins a turn, and an interrupt, are shown too', async () => {
  const model = new TestModel(response(functionCall('lookup', {})), response(message('ok')));
  const { client } = await startServer({ model });
  await client.request('thread/start', { experimentalRawEvents: true, dynamicTools: [LOOKUP] });
  const { turn } = await client.request('turn/start', { threadId: idOf(1), input: text('one') });
  await question(client, 'item/tool/call');
  await client.request('turn/steer', {
    threadId: idOf(1),
    expectedTurnId: turn.id,
    input: text('two'),
  });
  await client.request('turn/interrupt', { threadId: idOf(1), turnId: turn.id });
  await client.turnCompleted(turn.id);
  const texts = JSON.stringify(client.notifications('rawResponseItem/completed'));
  expect(texts).toContain('"two"');
  expect(texts).toContain('interrupted');
});

test('items that are added while no turn runs come with the next turn, before its own', async () => {
  const { client } = await startServer({ model: new TestModel(response(message('ok'))) });
  await client.request('thread/start', { experimentalRawEvents: true });
  const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'added' }] };
  await client.request('thread/inject_items', { threadId: idOf(1), items: [item] });
  await client.request('thread/name/set', { threadId: idOf(1), name: 'n' });
  await client.waitFor('thread/name/updated');
  expect(brief(client)).toEqual([]);
  const { id } = await client.turn(idOf(1), 'one');
  const shown = client.notifications('rawResponseItem/completed');
  // Before an item that is added stands the first context of the thread.
  expect(shown.map((each) => JSON.stringify(each.item).includes('"added"'))).toEqual([
    false,
    false,
    true,
    false,
    false,
  ]);
  expect(shown[2]).toMatchObject({ item });
  expect(shown.every(({ turnId }) => turnId === id)).toBe(true);
});
