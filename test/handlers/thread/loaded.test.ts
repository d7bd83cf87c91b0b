import { expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { startServer } from '../../support/test-server.ts';

test('thread/loaded/list is empty at first', async () => {
  const { client } = await startServer();
  expect(await client.request('thread/loaded/list', {})).toEqual({ data: [], nextCursor: null });
});

test('thread/loaded/list returns the loaded threads in pages, oldest first', async () => {
  const { client } = await startServer();
  for (let count = 0; count < 3; count++) await client.request('thread/start', {});
  expect(await client.request('thread/loaded/list', {})).toEqual({
    data: [idOf(1), idOf(2), idOf(3)],
    nextCursor: null,
  });
  const first = await client.request('thread/loaded/list', { limit: 2 });
  expect(first).toEqual({ data: [idOf(1), idOf(2)], nextCursor: expect.any(String) });
  expect(
    await client.request('thread/loaded/list', { limit: 2, cursor: first.nextCursor }),
  ).toEqual({ data: [idOf(3)], nextCursor: null });
});

test('thread/loaded/list: a page that ends with the last thread has no next page', async () => {
  const { client } = await startServer();
  for (let count = 0; count < 2; count++) await client.request('thread/start', {});
  expect(await client.request('thread/loaded/list', { limit: 2 })).toEqual({
    data: [idOf(1), idOf(2)],
    nextCursor: null,
  });
  expect(await client.request('thread/loaded/list', { limit: 0 })).toEqual({
    data: [idOf(1)],
    nextCursor: expect.any(String),
  });
});
