import { expect, test } from 'vitest';
import type { ThreadStore } from '../../src/store/thread-store.ts';
import { idOf } from '../support/counting-ids.ts';
import { asked, message, response, said } from '../support/test-model.ts';
import { startServer } from '../support/test-server.ts';

/** The store, which counts the entries for models that are read. */
function counted(store: ThreadStore, read: { entries: number }): ThreadStore {
  const readModelEntries = store.readModelEntries.bind(store);
  store.readModelEntries = async (threadId, query) => {
    const slice = await readModelEntries(threadId, { ...query, bytesMax: 500 });
    read.entries += slice.entries.length;
    return slice;
  };
  return store;
}

test('the history is read once, in parts: later turns read nothing, and every request has all of it', async () => {
  const first = await startServer();
  await first.client.request('thread/start', {});
  for (let turn = 1; turn <= 10; turn++) {
    first.model.push(response(message(`answer ${turn}`)));
    await first.client.turn(idOf(1), `question ${turn}`);
  }
  const read = { entries: 0 };
  const server = await first.restart({ wrapStore: (store) => counted(store, read) });
  await server.client.request('thread/resume', { threadId: idOf(1) });
  server.model.push(response(message('answer 11')), response(message('answer 12')));
  await server.client.turn(idOf(1), 'question 11');
  const afterFirst = read.entries;
  expect(afterFirst).toBeGreaterThanOrEqual(21);
  await server.client.turn(idOf(1), 'question 12');
  expect(read.entries).toBe(afterFirst);
  const conversation = server.model
    .request(12)
    .input.filter((item) => JSON.stringify(item).match(/question|answer/));
  const turns = Array.from({ length: 12 }, (_, index) => [
    asked(`question ${index + 1}`),
    said(`answer ${index + 1}`),
  ]).flat();
  expect(conversation.slice(-23)).toEqual(turns.slice(0, -1));
});
