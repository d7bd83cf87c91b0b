import { expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { threadOf } from '../../support/expected.ts';
import { Gate } from '../../support/gate.ts';
import { text } from '../../support/test-client.ts';
import {
  asked,
  conversation,
  message,
  messageBegun,
  response,
  said,
} from '../../support/test-model.ts';
import { withTwoTurns } from '../../support/thread-with.ts';

test('thread/rollback refuses unknown threads, 0 turns, archived threads, and a thread with a running turn', async () => {
  const { client, model, threadId, turns } = await withTwoTurns();
  model.push([...messageBegun('half'), new Gate()]);
  const { turn } = await client.request('turn/start', { threadId, input: text('three') });
  const refused = [
    await client.refusal('thread/rollback', { threadId: idOf(999), numTurns: 1 }),
    await client.refusal('thread/rollback', { threadId, numTurns: 0 }),
    await client.refusal('thread/rollback', { threadId, numTurns: -1 }),
    await client.refusal('thread/rollback', { threadId, numTurns: 1 }),
  ];
  await client.request('turn/interrupt', { threadId, turnId: turn.id });
  expect(await client.turnCompleted(turn.id)).toMatchObject({ status: 'interrupted' });
  await client.request('thread/archive', { threadId });
  expect([...refused, await client.refusal('thread/rollback', { threadId, numTurns: 1 })]).toEqual([
    {
      code: -32600,
      message: `thread not found: ${idOf(999)}`,
      data: { code: 'thread_not_found', threadId: idOf(999) },
    },
    {
      code: -32600,
      message: 'params.numTurns must be at least 1',
      data: { code: 'invalid_params' },
    },
    {
      code: -32600,
      message: expect.stringContaining('numTurns'),
      data: { code: 'invalid_params' },
    },
    {
      code: -32600,
      message: 'cannot roll back while a turn is in progress: interrupt it first',
      data: { code: 'turn_active', turnId: turn.id },
    },
    {
      code: -32600,
      message: `thread ${threadId} is archived: unarchive it first`,
      data: { code: 'thread_archived', threadId },
    },
  ]);
  expect(
    (await client.request('thread/read', { threadId, includeTurns: true })).thread.turns.slice(
      0,
      2,
    ),
  ).toEqual(turns);
});

test('it returns the turns that are left; then everyone is told, and the model no longer gets the others', async () => {
  const server = await withTwoTurns();
  const { client, model, threadId, turns } = server;
  const before = client.messages.length;
  const answer = await client.request('thread/rollback', { threadId, numTurns: 1 });
  expect(answer).toEqual({
    thread: threadOf(server, { id: threadId, preview: 'one', turns: turns.slice(0, 1) }),
  });
  await client.waitFor('thread/reverted');
  expect(client.messages.slice(before + 1)).toEqual([
    { method: 'thread/reverted', params: { threadId } },
  ]);
  model.push(response(message('ok')));
  await client.turn(threadId, 'other');
  expect(conversation(model.request(3))).toEqual([asked('one'), said('first'), asked('other')]);
});

test('rolling back more turns than there are removes all of them; without turns, nothing happens', async () => {
  const server = await withTwoTurns();
  const { threadId } = server;
  const { client } = await server.restart();
  const rollback = () => client.request('thread/rollback', { threadId, numTurns: 4_294_967_295 });
  const empty = threadOf(server, { id: threadId, status: { type: 'notLoaded' } });
  expect(await rollback()).toEqual({ thread: empty });
  expect(await rollback()).toEqual({ thread: empty });
  await client.waitFor('thread/reverted');
  expect(client.notifications('thread/reverted')).toHaveLength(1);
});
