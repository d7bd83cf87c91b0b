import { expect, test } from 'vitest';
import { PROTOCOL_VERSION } from '../../src/protocol/protocol-version.ts';
import { idOf } from '../support/counting-ids.ts';
import { startServer } from '../support/test-server.ts';
import { threadWith } from '../support/thread-with.ts';

const refusedAs = (code: string) => ({ code: -32600, data: { code } });

test('getConversationSummary by id and by path', async () => {
  const server = await startServer();
  const { thread } = await threadWith(server, [['one', 'first']]);
  const summary = {
    conversationId: thread.id,
    path: thread.path,
    preview: 'one',
    timestamp: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    modelProvider: 'test',
    cwd: server.cwd,
    cliVersion: PROTOCOL_VERSION,
    source: 'vscode',
    gitInfo: null,
  };
  const { client } = await server.restart();
  expect(await client.request('getConversationSummary', { conversationId: thread.id })).toEqual({
    summary,
  });
  expect(await client.request('getConversationSummary', { rolloutPath: thread.path })).toEqual({
    summary,
  });
  const relative = thread.path?.slice(server.home.length + 1) ?? '';
  expect(
    await client.request('getConversationSummary', {
      rolloutPath: relative,
      conversationId: idOf(9),
    }),
  ).toEqual({ summary });
  expect(await client.request('thread/loaded/list', {})).toEqual({ data: [], nextCursor: null });
});

test('getConversationSummary has the git information in the form of older clients', async () => {
  const server = await startServer();
  const { thread } = await threadWith(server, [['one', 'first']]);
  const gitInfo = { sha: 'a'.repeat(40), branch: 'main', originUrl: 'https://example.com/x.git' };
  await server.client.request('thread/metadata/update', { threadId: thread.id, gitInfo });
  const { summary } = await server.client.request('getConversationSummary', {
    conversationId: thread.id,
  });
  expect(summary.gitInfo).toEqual({
    sha: gitInfo.sha,
    branch: 'main',
    origin_url: gitInfo.originUrl,
  });
});

test('getConversationSummary refuses what it does not find, and a thread without a rollout', async () => {
  const { client } = await startServer();
  const refusal = (params: object) => client.refusal('getConversationSummary', params);
  await client.request('thread/start', {});
  const { thread } = await client.request('thread/start', { ephemeral: true });
  for (const conversationId of [idOf(9), idOf(1), thread.id]) {
    expect(await refusal({ conversationId })).toMatchObject(refusedAs('thread_not_found'));
  }
  expect(await refusal({ conversationId: 'nope' })).toMatchObject(refusedAs('invalid_thread_id'));
  expect(await refusal({ rolloutPath: '/nonexistent/x.jsonl' })).toMatchObject(
    refusedAs('rollout_not_found'),
  );
  expect(await refusal({})).toMatchObject(refusedAs('invalid_params'));
});
