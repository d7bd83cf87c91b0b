import { expect, test } from 'vitest';
import type { ThreadStartParams } from '../../src/protocol/generated/types.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { idOf } from '../support/counting-ids.ts';
import { gatedStore } from '../support/gated-store.ts';
import { message, response, TestModel } from '../support/test-model.ts';
import { startServer, type TestServerOptions } from '../support/test-server.ts';

const DETACHED = {
  threadId: idOf(1),
  target: { type: 'uncommittedChanges' },
  delivery: 'detached',
} as const;

/** A thread, and a detached review of it that has ended. */
async function detachedReview(params: ThreadStartParams, options: TestServerOptions = {}) {
  const server = await startServer({
    model: new TestModel(response(message('Fine.')), response(message('ok'))),
    ...options,
  });
  const { client } = server;
  await client.request('thread/start', params);
  const { turn, reviewThreadId } = await client.request('review/start', DETACHED);
  expect((await client.turnCompleted(turn.id)).status).toBe('completed');
  return { ...server, reviewThreadId };
}

test('a detached review has the model, the review model and the provider that the request of its thread configured', async () => {
  const config = {
    'model_providers.mine': { base_url: 'http://127.0.0.1:9' },
    model_provider: 'mine',
    model: 'own-model',
    review_model: 'critic',
  };
  const { client, model, reviewThreadId } = await detachedReview({ config });
  await client.turn(reviewThreadId, 'and now?');
  expect(model.requests.map((request) => request.model)).toEqual(['critic', 'own-model']);
  const { thread } = await client.request('thread/read', { threadId: reviewThreadId });
  expect(thread.modelProvider).toBe('mine');
});

test('the thread of a detached review keeps the approval policy, the sandbox policy and the mode of its source, and shows the mode', async () => {
  const server = await startServer({
    model: new TestModel(response(message('a')), response(message('Fine.'))),
  });
  const { client } = server;
  await client.request('thread/start', { approvalPolicy: 'never', sandbox: 'danger-full-access' });
  const settings = { model: 'planner', reasoning_effort: null, developer_instructions: null };
  await client.turn(idOf(1), 'plan', { collaborationMode: { mode: 'plan', settings } });
  const { turn, reviewThreadId } = await client.request('review/start', DETACHED);
  await client.turnCompleted(turn.id);
  const shown = client.notifications(
    'thread/settings/updated',
    ({ threadId }) => threadId === reviewThreadId,
  );
  expect(shown.map(({ threadSettings }) => threadSettings)).toMatchObject([
    {
      approvalPolicy: 'never',
      sandboxPolicy: { type: 'dangerFullAccess' },
      collaborationMode: { mode: 'plan' },
    },
  ]);
});

test('for a client that does not know modes, the thread of a detached review is in the default mode', async () => {
  const server = await startServer({
    model: new TestModel(
      response(message('a')),
      response(message('Fine.')),
      response(message('b')),
    ),
  });
  const settings = { model: 'planner', reasoning_effort: null, developer_instructions: null };
  await server.client.request('thread/start', {});
  await server.client.turn(idOf(1), 'plan', { collaborationMode: { mode: 'plan', settings } });
  const other = await server.connect({ capabilities: null });
  const { turn, reviewThreadId } = await other.request('review/start', DETACHED);
  await other.turnCompleted(turn.id);
  await other.turn(reviewThreadId, 'go on');
  expect(JSON.stringify(server.model.request(3).input)).toContain(
    'The collaboration mode has changed back',
  );
});

test('if a detached review cannot begin, its thread is deleted, and no client hears of it', async () => {
  let isFull = false;
  const server = await startServer({
    wrapStore: (store) =>
      gatedStore(store, ({ entries }) => {
        if (isFull && entries.some(({ kind }) => kind === 'turnStarted'))
          throw new StoreError('store_full', 'the disk is full');
      }),
  });
  const { client } = server;
  await client.request('thread/start', {});
  const before = await client.request('thread/loaded/list', {});
  isFull = true;
  expect((await client.refusal('review/start', DETACHED)).data.code).toBe('store_full');
  expect(await client.request('thread/loaded/list', {})).toEqual(before);
  expect(client.notifications('thread/started')).toHaveLength(1);
});
