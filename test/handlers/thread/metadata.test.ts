import { expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { threadOf } from '../../support/expected.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';
import { threadWith } from '../../support/thread-with.ts';

async function update({ client }: Pick<TestServer, 'client'>, params: object) {
  return (await client.request('thread/metadata/update', { threadId: idOf(1), ...params })).thread;
}

test('thread/metadata/update refuses updates without a change, empty strings, projects and unknown threads', async () => {
  const { client } = await startServer();
  const { thread } = await client.request('thread/start', {});
  const refused = (params: object) =>
    client.refusal('thread/metadata/update', { threadId: idOf(1), ...params });
  const empty = {
    code: -32600,
    message: 'thread metadata update must include at least one field',
    data: { code: 'empty_update' },
  };
  expect([
    await refused({}),
    await refused({ gitInfo: null, projectId: null, daybreakEnabled: null }),
    await refused({ gitInfo: {} }),
    await refused({ gitInfo: { sha: 'abc', branch: ' ' } }),
    await refused({ projectId: 'p', gitInfo: { branch: 'x' } }),
    await refused({ gitInfo: { branch: 7 } }),
    await refused({ threadId: idOf(9), gitInfo: { branch: 'x' } }),
    await refused({ threadId: 'nope', gitInfo: { branch: 'x' } }),
  ]).toEqual([
    empty,
    empty,
    {
      code: -32600,
      message: 'gitInfo must include at least one field',
      data: { code: 'empty_update' },
    },
    { code: -32600, message: 'gitInfo.branch must not be empty', data: { code: 'empty_field' } },
    { code: -32600, message: 'project not found: p', data: { code: 'project_not_found' } },
    {
      code: -32600,
      message: 'params.gitInfo.branch: 7 is not a string',
      data: { code: 'invalid_params' },
    },
    {
      code: -32600,
      message: `no rollout found for thread id ${idOf(9)}`,
      data: { code: 'thread_not_found', threadId: idOf(9) },
    },
    {
      code: -32600,
      message: 'invalid thread id: "nope" is not a UUID',
      data: { code: 'invalid_thread_id' },
    },
  ]);
  expect((await client.request('thread/read', { threadId: idOf(1) })).thread).toEqual(thread);
});

test('a patch of gitInfo keeps missing fields and clears null ones; gitInfo is null if no field is left', async () => {
  const server = await startServer();
  await server.client.request('thread/start', {});
  expect(await update(server, { gitInfo: { branch: 'feature/x', sha: 'abc' } })).toEqual(
    threadOf(server, {
      id: idOf(1),
      gitInfo: { sha: 'abc', branch: 'feature/x', originUrl: null },
    }),
  );
  expect((await update(server, { gitInfo: { sha: null } })).gitInfo).toEqual({
    sha: null,
    branch: 'feature/x',
    originUrl: null,
  });
  expect((await update(server, { gitInfo: { originUrl: 'ssh://somewhere/x' } })).gitInfo).toEqual({
    sha: null,
    branch: 'feature/x',
    originUrl: 'ssh://somewhere/x',
  });
  expect(
    (await update(server, { gitInfo: { sha: null, branch: null, originUrl: null } })).gitInfo,
  ).toBeNull();
});

test('an update of a thread that is not loaded is stored without loading it, and a resume returns it', async () => {
  const server = await startServer();
  await threadWith(server, [['one', 'first']]);
  const next = await server.restart();
  const gitInfo = { sha: null, branch: 'b', originUrl: null };
  const expected = threadOf(next, {
    id: idOf(1),
    preview: 'one',
    status: { type: 'notLoaded' },
    gitInfo,
    daybreakEnabled: true,
  });
  expect(await update(next, { gitInfo: { branch: 'b' }, daybreakEnabled: true })).toEqual(expected);
  expect((await next.client.request('thread/list', {})).data).toEqual([expected]);
  expect(await next.client.request('thread/loaded/list', {})).toEqual({
    data: [],
    nextCursor: null,
  });
  const last = await next.restart();
  const { thread } = await last.client.request('thread/resume', {
    threadId: idOf(1),
    excludeTurns: true,
  });
  expect(thread).toEqual({ ...expected, status: { type: 'idle' }, canAcceptDirectInput: true });
});

test('daybreakEnabled is kept as it was set, also by thread/start; an empty project counts as none', async () => {
  const server = await startServer();
  expect(
    (await server.client.request('thread/start', { daybreakEnabled: true })).thread.daybreakEnabled,
  ).toBe(true);
  expect((await update(server, { daybreakEnabled: false })).daybreakEnabled).toBe(false);
  expect((await update(server, { projectId: '' })).daybreakEnabled).toBe(false);
  const { client } = await server.restart();
  expect((await client.request('thread/read', { threadId: idOf(1) })).thread).toMatchObject({
    daybreakEnabled: false,
    projectId: null,
  });
});

test('an ephemeral thread can be updated too', async () => {
  const server = await startServer();
  await server.client.request('thread/start', { ephemeral: true });
  expect((await update(server, { gitInfo: { branch: 'x' } })).gitInfo).toEqual({
    sha: null,
    branch: 'x',
    originUrl: null,
  });
});
