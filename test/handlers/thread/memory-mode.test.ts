import { expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { startServer } from '../../support/test-server.ts';
import { threadWith } from '../../support/thread-with.ts';

test('thread/memoryMode/set refuses unknown threads and modes', async () => {
  const { client } = await startServer();
  await client.request('thread/start', {});
  expect([
    await client.refusal('thread/memoryMode/set', { threadId: idOf(9), mode: 'enabled' }),
    await client.refusal('thread/memoryMode/set', { threadId: idOf(1), mode: 'sometimes' }),
  ]).toEqual([
    {
      code: -32600,
      message: `no rollout found for thread id ${idOf(9)}`,
      data: { code: 'thread_not_found', threadId: idOf(9) },
    },
    {
      code: -32600,
      message: 'params.mode: "sometimes" is none of "enabled", "disabled"',
      data: { code: 'invalid_params' },
    },
  ]);
});

test('the mode is stored with the thread, loaded or not, and a fork has it', async () => {
  const server = await startServer();
  await threadWith(server, [['one', 'first']]);
  const mode = async ({ store }: Pick<typeof server, 'store'>, id = idOf(1)) =>
    (await store.getThread(id))?.memoryMode;
  expect(await mode(server)).toBeNull();
  const before = (await server.client.request('thread/read', { threadId: idOf(1) })).thread;
  expect(
    await server.client.request('thread/memoryMode/set', { threadId: idOf(1), mode: 'disabled' }),
  ).toEqual({});
  expect(await mode(server)).toBe('disabled');
  expect((await server.client.request('thread/read', { threadId: idOf(1) })).thread).toEqual(
    before,
  );
  const next = await server.restart();
  expect(await mode(next)).toBe('disabled');
  const { thread } = await next.client.request('thread/fork', { threadId: idOf(1) });
  expect(
    await next.client.request('thread/memoryMode/set', { threadId: idOf(1), mode: 'enabled' }),
  ).toEqual({});
  expect([await mode(next), await mode(next, thread.id)]).toEqual(['enabled', 'disabled']);
});
