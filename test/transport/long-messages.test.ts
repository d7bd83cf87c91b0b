import { expect, test } from 'vitest';
import { text } from '../support/test-client.ts';
import { startServer } from '../support/test-server.ts';

const MB = 1e6;

test('a long request takes effect before the shorter ones behind it', async () => {
  const { client } = await startServer();
  const { thread } = await client.request('thread/start', {});
  const items = [{ type: 'message' as const, role: 'user', content: [{ type: 'input_text' as const, text: 'é"\n'.repeat(MB) }] }];
  const lines = [
    { id: 1001, method: 'thread/inject_items', params: { threadId: thread.id, items } },
    { id: 1002, method: 'thread/name/set', params: { threadId: thread.id, name: 'x' } },
    { id: 1003, method: 'no/such/method', params: {} },
  ];
  const sent = client.messages.length;
  client.input.write(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
  await client.first('the last answer', ({ id }) => id === 1002);
  const ids = client.messages.slice(sent).flatMap(({ id }) => id ?? []);
  expect(ids).toHaveLength(3);
  expect(ids.indexOf(1001)).toBeLessThan(ids.indexOf(1002));
});

test('what follows a long message comes after it, whole', async () => {
  const { client } = await startServer();
  const { thread } = await client.request('thread/start', {});
  const input = 'é"\n\u{1f600}'.repeat(200_000);
  await client.turn(thread.id, text(input));
  const { item } = await client.waitFor('item/completed', (sent) => sent.item.type === 'userMessage');
  expect(item).toMatchObject({ content: [{ text: input }] });
  const methods = client.messages
    .flatMap(({ method }) => method ?? [])
    .filter((method) => method.startsWith('turn/') || method.startsWith('item/'));
  expect(methods.slice(0, 3)).toEqual(['turn/started', 'item/started', 'item/completed']);
  expect(methods.at(-1)).toBe('turn/completed');
  expect(client.problems).toEqual([]);
});

test('a long message that is not JSON is skipped, and the client is still served', async () => {
  const { client } = await startServer();
  client.input.write(`{"id":1,"method":"thread/list","params":{"searchTerm":"${'x'.repeat(2 * MB)}"\n`);
  expect(await client.request('thread/list', {})).toMatchObject({ data: [] });
});
