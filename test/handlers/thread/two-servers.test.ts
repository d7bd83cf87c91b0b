import { expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { message, response } from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';
import { threadWith } from '../../support/thread-with.ts';

/** A server that has a thread loaded, and another on its home. */
async function twoServers(): Promise<{ holder: TestServer; other: TestServer }> {
  const holder = await startServer();
  await threadWith(holder, [['one', 'first']]);
  return { holder, other: await startServer({ folder: holder.folder, pid: 99 }) };
}

const readThread = async ({ client }: TestServer) =>
  (await client.request('thread/read', { threadId: idOf(1) })).thread;

test('changes that another server makes to a thread that is loaded here show at once, wherever the thread is shown', async () => {
  const { holder, other } = await twoServers();
  await other.client.request('thread/name/set', { threadId: idOf(1), name: 'of the other' });
  await other.client.request('thread/metadata/update', {
    threadId: idOf(1),
    gitInfo: { branch: 'b' },
    daybreakEnabled: true,
  });
  const said = {
    name: 'of the other',
    gitInfo: { sha: null, branch: 'b', originUrl: null },
    daybreakEnabled: true,
  };
  expect(await readThread(holder)).toMatchObject({ ...said, status: { type: 'idle' } });
  expect((await holder.client.request('thread/list', {})).data).toEqual([
    { ...(await readThread(holder)), turns: [] },
  ]);
  expect(
    (await holder.client.request('thread/resume', { threadId: idOf(1) })).thread,
  ).toMatchObject(said);
  const rolledBack = await holder.client.request('thread/rollback', {
    threadId: idOf(1),
    numTurns: 1,
  });
  expect(rolledBack.thread).toMatchObject(said);
});

test('changes of different fields of a thread by two servers are both kept, also over its turns', async () => {
  const { holder, other } = await twoServers();
  const update = ({ client }: TestServer, gitInfo: object) =>
    client.request('thread/metadata/update', { threadId: idOf(1), gitInfo });
  await update(other, { branch: 'b' });
  await update(holder, { sha: 'abc' });
  await update(other, { originUrl: 'ssh://somewhere/x' });
  await other.client.request('thread/name/set', { threadId: idOf(1), name: 'of the other' });
  await other.client.request('thread/memoryMode/set', { threadId: idOf(1), mode: 'disabled' });
  holder.model.push(response(message('second')));
  await holder.client.turn(idOf(1), 'two');
  const said = {
    name: 'of the other',
    gitInfo: { sha: 'abc', branch: 'b', originUrl: 'ssh://somewhere/x' },
  };
  expect([await readThread(holder), await readThread(other)]).toMatchObject([said, said]);
  const { thread: fork } = await holder.client.request('thread/fork', { threadId: idOf(1) });
  expect((await holder.store.getThread(fork.id))?.memoryMode).toBe('disabled');
});
