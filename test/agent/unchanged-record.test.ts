import { expect, test } from 'vitest';
import type { ThreadPatch } from '../../src/store/thread-record.ts';
import { idOf } from '../support/counting-ids.ts';
import { gatedStore } from '../support/gated-store.ts';
import { message, response, TestModel } from '../support/test-model.ts';
import { startServer } from '../support/test-server.ts';

test('the start of a turn stores of the record only what has changed', async () => {
  const patches: ThreadPatch[] = [];
  const texts = ['one', 'two', 'three', 'four', 'five'];
  const server = await startServer({
    model: new TestModel(...texts.map((text) => response(message(text)))),
    wrapStore: (store) =>
      gatedStore(store, ({ entries, patch = {} }) => {
        if (entries.some(({ kind }) => kind === 'turnStarted')) patches.push(patch);
      }),
  });
  const { client } = server;
  await client.request('thread/start', {});
  const threadId = idOf(1);
  const added = { editor: { kind: 'application' as const, value: 'a.ts is open' } };
  for (const params of [{}, {}, { additionalContext: added }, { effort: 'high' }, {}])
    await client.turn(threadId, 'hi', params);
  const always = ['listed', 'recencyAtMs', 'updatedAtMs'];
  expect(patches.map((patch) => Object.keys(patch).sort())).toEqual([
    [...always.slice(0, 1), 'preview', 'previewIsCommand', 'recencyAtMs', 'told', 'updatedAtMs'],
    always,
    ['listed', 'recencyAtMs', 'told', 'updatedAtMs'],
    ['listed', 'recencyAtMs', 'settings', 'told', 'updatedAtMs'],
    always,
  ]);
});
