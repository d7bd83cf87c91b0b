import { describe, expect, test } from 'vitest';
import type { ModelRequest } from '../../../src/model/model.ts';
import { idOf } from '../../support/counting-ids.ts';
import { Gate } from '../../support/gate.ts';
import { gatedStore } from '../../support/gated-store.ts';
import {
  busyThread,
  heldBecause,
  heldQueue,
  interrupt,
  queue,
  turnsEnded,
  turnsOf,
  waiting,
} from '../../support/queue.ts';
import { idle, settled } from '../../support/settled.ts';
import { text } from '../../support/test-client.ts';
import { asked, conversation, failed, response, said, saying } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';
import { readTurns, threadAnswering, withThread } from '../../support/thread-with.ts';

const threadId = idOf(1);
const UNKNOWN = idOf(999);
const ANSWERS = ['one', 'two', 'three', 'four', 'five'].map(saying);

/** The facts about a turn that gateways read, also those that the client has added. */
function turnMetadata({ clientMetadata }: ModelRequest): object {
  return JSON.parse(clientMetadata?.['x-codex-turn-metadata'] ?? '{}');
}

describe('thread/queue/add', () => {
  test('starts a turn in an idle thread at once, with the input and the metadata of the entry', async () => {
    const { client, model } = await threadAnswering([saying('hello')]);
    const input = text('hi');
    const metadata = { from: 'a phone' };
    const { queuedSubmission } = await client.request('thread/queue/add', {
      threadId,
      clientUserMessageId: 'mine',
      input,
      responsesapiClientMetadata: metadata,
    });
    expect(queuedSubmission).toEqual({
      id: expect.any(String),
      clientUserMessageId: 'mine',
      input,
      responsesapiClientMetadata: metadata,
    });
    await turnsEnded(client, 1);
    expect(conversation(model.request(1))).toEqual([asked('hi')]);
    expect(turnMetadata(model.request(1))).toMatchObject(metadata);
    const [turn] = await readTurns(client, threadId);
    expect(turn?.items[0]).toMatchObject({ type: 'userMessage', clientId: 'mine' });
    expect(await client.request('thread/queue/list', { threadId })).toEqual({
      data: [],
      nextCursor: null,
      heldBecause: null,
    });
  });

  test('while a turn runs, entries wait, and then have their turns in their order', async () => {
    const { client, model, gate } = await busyThread(ANSWERS);
    for (const words of ['a', 'b', 'c']) await queue(client, words);
    expect(await waiting(client)).toEqual(['a', 'b', 'c']);
    gate.open();
    await turnsEnded(client, 4);
    expect(conversation(model.request(4))).toEqual([
      asked('go'),
      said('went'),
      asked('a'),
      said('one'),
      asked('b'),
      said('two'),
      asked('c'),
    ]);
    expect(await waiting(client)).toEqual([]);
  });

  test.each([
    ['without input', { input: [] }, 'empty_input'],
    [
      'with a remote image',
      { input: [{ type: 'image', url: 'https://a.b/c.png' }] },
      'remote_image',
    ],
    ['with too much text', { input: text('x'.repeat(1_048_577)) }, 'input_too_large'],
    ['with a long client ID', { clientUserMessageId: 'x'.repeat(257) }, 'invalid_params'],
    ['to an unknown thread', { threadId: UNKNOWN }, 'thread_not_found'],
  ])('%s is refused', async (_what, params, code) => {
    const { client, model } = await withThread();
    const whole = { threadId, clientUserMessageId: 'a', input: text('a'), ...params };
    expect(await client.refusal('thread/queue/add', whole)).toMatchObject({ data: { code } });
    expect(await waiting(client)).toEqual([]);
    expect(model.requests).toEqual([]);
  });

  test('with a clientUserMessageId that waits or has had its turn adds nothing', async () => {
    const { client, gate } = await busyThread(ANSWERS);
    const first = await queue(client, 'a');
    expect(await queue(client, 'a', { input: text('other words') })).toEqual(first);
    expect(await waiting(client)).toEqual(['a']);
    gate.open();
    await turnsEnded(client, 2);
    expect((await queue(client, 'a')).id).toBe(first.id);
    await settled(client, threadId);
    expect(await turnsOf(client)).toEqual(['go: completed', 'a: completed']);
  });

  test('with the clientUserMessageId of an entry that was deleted adds it anew', async () => {
    const { client, gate } = await busyThread(ANSWERS);
    const { id } = await queue(client, 'a');
    await client.request('thread/queue/delete', { threadId, queuedSubmissionId: id });
    expect((await queue(client, 'a')).id).not.toBe(id);
    gate.open();
    await turnsEnded(client, 2);
  });

  test('refuses the entry number 101, and says what to do', async () => {
    const { client } = await busyThread([]);
    for (let number = 1; number <= 100; number++) await queue(client, `entry ${number}`);
    expect(
      await client.refusal('thread/queue/add', {
        threadId,
        clientUserMessageId: 'more',
        input: text('more'),
      }),
    ).toEqual({
      code: -32600,
      message:
        'the queue of a thread has at most 100 entries: wait until entries have had their turns, or delete some with thread/queue/delete',
      data: { code: 'queue_full', maxEntries: 100, maxChars: 16 * 1024 * 1024 },
    });
    const first = await client.request('thread/queue/list', { threadId });
    expect([first.data.length, first.nextCursor]).toEqual([25, '25']);
    const last = await client.request('thread/queue/list', { threadId, cursor: '75', limit: 99 });
    expect([last.data.length, last.data.at(-1)?.clientUserMessageId, last.nextCursor]).toEqual([
      25,
      'entry 100',
      null,
    ]);
    expect(await client.refusal('thread/queue/list', { threadId, cursor: 'zz' })).toMatchObject({
      data: { code: 'invalid_cursor' },
    });
  });

  test('refuses entries that are too long together, also by thread/queue/update', async () => {
    const { client } = await busyThread([]);
    const long = text('x'.repeat(1024 * 1024));
    for (let number = 1; number <= 15; number++) await queue(client, `${number}`, { input: long });
    const { id } = await queue(client, 'short');
    const tooLong = { data: { code: 'queue_full' } };
    const add = { threadId, clientUserMessageId: '16', input: long };
    expect(await client.refusal('thread/queue/add', add)).toMatchObject(tooLong);
    expect(
      await client.refusal('thread/queue/update', {
        threadId,
        queuedSubmissionId: id,
        input: long,
      }),
    ).toMatchObject(tooLong);
    // A page ends after a mebibyte, and goes on.
    const page = await client.request('thread/queue/list', { threadId });
    expect([page.data.length, page.nextCursor]).toEqual([1, '1']);
    const next = await client.request('thread/queue/list', { threadId, cursor: '1' });
    expect(next.data[0]).toMatchObject({ clientUserMessageId: '2', input: long });
  });
});

describe('entries that wait', () => {
  test('thread/queue/reorder needs the ID of each once, and changes the order of the turns', async () => {
    const { client, gate } = await busyThread(ANSWERS);
    const [a, b, c] = [
      await queue(client, 'a'),
      await queue(client, 'b'),
      await queue(client, 'c'),
    ].map(({ id }) => id) as [string, string, string];
    const reorder = (queuedSubmissionIds: string[]) => ({ threadId, queuedSubmissionIds });
    for (const ids of [[], [c, a], [c, a, a], [a, b, c, a], [a, b, UNKNOWN]])
      expect(await client.refusal('thread/queue/reorder', reorder(ids))).toMatchObject({
        message: 'queue reorder must include every queued submission exactly once',
      });
    expect(await waiting(client)).toEqual(['a', 'b', 'c']);
    expect(await client.request('thread/queue/reorder', reorder([c, a, b]))).toEqual({});
    gate.open();
    await turnsEnded(client, 4);
    expect(await turnsOf(client)).toEqual([
      'go: completed',
      'c: completed',
      'a: completed',
      'b: completed',
    ]);
  });

  test('thread/queue/update replaces input and metadata, and keeps the place and the IDs', async () => {
    const { client, model, gate } = await busyThread(ANSWERS);
    const { id } = await queue(client, 'a');
    await queue(client, 'b');
    const { queuedSubmission } = await client.request('thread/queue/update', {
      threadId,
      queuedSubmissionId: id,
      input: text('other words'),
      responsesapiClientMetadata: { k: 'v' },
    });
    expect(queuedSubmission).toEqual({
      id,
      clientUserMessageId: 'a',
      input: text('other words'),
      responsesapiClientMetadata: { k: 'v' },
    });
    const { data } = await client.request('thread/queue/list', { threadId });
    expect([data[0], data.length]).toEqual([queuedSubmission, 2]);
    expect(
      await client.refusal('thread/queue/update', {
        threadId,
        queuedSubmissionId: UNKNOWN,
        input: text('x'),
      }),
    ).toMatchObject({ message: `queued submission not found: ${UNKNOWN}` });
    gate.open();
    await turnsEnded(client, 3);
    expect(await turnsOf(client)).toEqual([
      'go: completed',
      'other words: completed',
      'b: completed',
    ]);
    expect(turnMetadata(model.request(2))).toMatchObject({ k: 'v' });
  });

  test('thread/queue/delete removes one, and answers false for an unknown one', async () => {
    const { client, gate } = await busyThread(ANSWERS);
    const { id: queuedSubmissionId } = await queue(client, 'a');
    await queue(client, 'b');
    const remove = () => client.request('thread/queue/delete', { threadId, queuedSubmissionId });
    expect([await remove(), await remove()]).toEqual([{ deleted: true }, { deleted: false }]);
    gate.open();
    await turnsEnded(client, 2);
    expect(await turnsOf(client)).toEqual(['go: completed', 'b: completed']);
  });

  test('turn/start does not wait for them: it joins the running turn', async () => {
    const { client, gate } = await busyThread(ANSWERS);
    await queue(client, 'a');
    const { turn } = await client.request('turn/start', { threadId, input: text('also') });
    gate.open();
    await turnsEnded(client, 2);
    expect(await turnsOf(client)).toEqual(['go + also: completed', 'a: completed']);
    expect(turn.id).toBe((await readTurns(client, threadId))[0]?.id);
  });

  test('of two requests at the same time for an idle thread, one entry has its turn after the other', async () => {
    const { client } = await threadAnswering(ANSWERS);
    await Promise.all(['a', 'b', 'c'].map((words) => queue(client, words)));
    await turnsEnded(client, 3);
    expect(await turnsOf(client)).toEqual(['a: completed', 'b: completed', 'c: completed']);
  });
});

describe('the queue', () => {
  test('goes on after a turn that failed', async () => {
    const { client, gate } = await busyThread([
      [{ type: 'started' }, failed('no')],
      ...ANSWERS.slice(0, 1),
    ]);
    await queue(client, 'a');
    await queue(client, 'b');
    gate.open();
    await turnsEnded(client, 3);
    expect(await turnsOf(client)).toEqual(['go: completed', 'a: failed', 'b: completed']);
  });

  test('is held after an interrupt, over later entries, until thread/queue/start', async () => {
    const { client } = await heldQueue(['a', 'b'], ANSWERS);
    const { id } = await queue(client, 'c');
    await settled(client, threadId);
    expect([await waiting(client), await heldBecause(client)]).toEqual([
      ['a', 'b', 'c'],
      'turnInterrupted',
    ]);
    const { turn } = await client.request('thread/queue/start', {
      threadId,
      queuedSubmissionId: id,
    });
    expect(turn).toMatchObject({ status: 'inProgress', items: [] });
    await turnsEnded(client, 4);
    expect(await turnsOf(client)).toEqual([
      'go: interrupted',
      'c: completed',
      'a: completed',
      'b: completed',
    ]);
    expect((await readTurns(client, threadId))[1]?.id).toBe(turn.id);
    expect(await heldBecause(client)).toBe(null);
  });

  test('is held over a restart and a resume', async () => {
    const server = await heldQueue(['a'], ANSWERS);
    const again = await server.restart();
    const { client } = again;
    await queue(client, 'b');
    expect([await waiting(client), await heldBecause(client)]).toEqual([
      ['a', 'b'],
      'turnInterrupted',
    ]);
    await client.request('thread/resume', { threadId });
    await settled(client, threadId);
    expect(client.notifications('turn/started')).toEqual([]);
    await client.request('thread/queue/start', { threadId });
    await turnsEnded(client, 2);
    expect(await waiting(client)).toEqual([]);
  });

  test('is held also if it was empty when the turn was interrupted, and goes on after a turn that completes', async () => {
    const { client } = await heldQueue([], ANSWERS);
    await queue(client, 'a');
    await settled(client, threadId);
    expect(await waiting(client)).toEqual(['a']);
    await client.turn(threadId, 'user');
    await turnsEnded(client, 3);
    expect(await turnsOf(client)).toEqual(['go: interrupted', 'user: completed', 'a: completed']);
  });

  test('stays held after a turn that fails', async () => {
    const { client } = await heldQueue(['a'], [[{ type: 'started' }, failed('no')]]);
    await client.turn(threadId, 'user');
    await settled(client, threadId);
    expect([await waiting(client), await heldBecause(client)]).toEqual([['a'], 'turnInterrupted']);
  });

  test('thread/queue/start is refused while a turn runs, for an empty queue and for an unknown entry', async () => {
    const { client, turnId } = await busyThread([]);
    const start = (more = {}) => client.refusal('thread/queue/start', { threadId, ...more });
    await queue(client, 'a');
    expect(await start()).toMatchObject({
      message: 'thread already has an active or pending turn',
      data: { code: 'turn_active' },
    });
    await interrupt(client, turnId);
    expect(await start({ queuedSubmissionId: UNKNOWN })).toMatchObject({
      message: `queued submission not found: ${UNKNOWN}`,
    });
    const [entry] = (await client.request('thread/queue/list', { threadId })).data;
    await client.request('thread/queue/delete', {
      threadId,
      queuedSubmissionId: entry?.id ?? '',
    });
    expect(await start()).toMatchObject({ message: 'queue is empty' });
  });

  test('of a thread that is not loaded can be changed, and goes on when the thread is resumed', async () => {
    const { client: first, restart } = await busyThread(ANSWERS);
    const { id } = await queue(first, 'a');
    const { client } = await restart();
    await queue(client, 'b');
    await queue(client, 'c');
    const [, b, c] = (await client.request('thread/queue/list', { threadId })).data;
    await client.request('thread/queue/update', {
      threadId,
      queuedSubmissionId: id,
      input: text('changed'),
    });
    await client.request('thread/queue/reorder', {
      threadId,
      queuedSubmissionIds: [b?.id ?? '', id, c?.id ?? ''],
    });
    await client.request('thread/queue/delete', { threadId, queuedSubmissionId: c?.id ?? '' });
    expect([await waiting(client), await heldBecause(client)]).toEqual([
      ['b', 'a'],
      'threadNotLoaded',
    ]);
    expect(await client.refusal('thread/queue/start', { threadId })).toMatchObject({
      message: 'resume the thread before starting a queued message',
      data: { code: 'thread_not_found' },
    });
    await client.request('thread/resume', { threadId });
    await turnsEnded(client, 2);
    expect(await turnsOf(client)).toEqual([
      'go: interrupted',
      'b: completed',
      'changed: completed',
    ]);
  });

  test('of a thread that another process has loaded can be read, and changes are refused', async () => {
    const holder = await heldQueue(['a'], []);
    const other = await startServer({ folder: holder.folder, pid: 99 });
    expect(await waiting(other.client)).toEqual(['a']);
    const params = { threadId, clientUserMessageId: 'b', input: text('b') };
    expect(await other.client.refusal('thread/queue/add', params)).toMatchObject({
      data: { code: 'active_writer' },
    });
  });

  test('goes on without followers: nobody needs to follow the thread', async () => {
    const { client, gate, connect } = await busyThread(ANSWERS);
    const other = await connect();
    for (const words of ['a', 'b']) await queue(other, words);
    await client.request('thread/unsubscribe', { threadId });
    gate.open();
    for (let turns: string[] = []; turns.length < 3; ) turns = await turnsOf(other);
    await idle(other, threadId);
    expect(await turnsOf(other)).toEqual(['go: completed', 'a: completed', 'b: completed']);
    expect(other.notifications('thread/queue/changed')).toEqual([]);
    expect(other.notifications('turn/started')).toEqual([]);
  });

  test('begins no turn that the end of the server would interrupt: the entries are there after it', async () => {
    const server = await busyThread(ANSWERS, { drain: true });
    await queue(server.client, 'a');
    const closed = server.client.close();
    server.gate.open();
    await closed;
    const { client } = await server.restart();
    expect([await turnsOf(client), await waiting(client)]).toEqual([['go: completed'], ['a']]);
  });

  test('goes on without an entry that a repair of the database could not save, and says so', async () => {
    const { client, gate } = await busyThread(ANSWERS, {
      wrapStore: (store) => ({
        ...gatedStore(store, () => undefined),
        readQueued: async (...args) =>
          (await store.readQueued(...args)).filter((entry) => entry.clientUserMessageId !== 'a'),
      }),
    });
    const { id } = await queue(client, 'a');
    await queue(client, 'b');
    gate.open();
    await turnsEnded(client, 2);
    expect(await turnsOf(client)).toEqual(['go: completed', 'b: completed']);
    expect(client.notifications('warning')).toEqual([
      {
        threadId,
        message: `An entry of the thread's queue is lost, because the database was damaged: ${id}`,
      },
    ]);
  });

  test('comes before the goal of the thread', async () => {
    const { client, gate } = await busyThread(ANSWERS);
    await client.request('thread/goal/set', { threadId, objective: 'all green' });
    await queue(client, 'a');
    gate.open();
    await client.waitFor('thread/goal/updated', ({ goal }) => goal.status === 'blocked');
    expect((await turnsOf(client)).slice(0, 2)).toEqual(['go: completed', 'a: completed']);
  });

  test('of an ephemeral thread works as any other', async () => {
    const gate = new Gate();
    const { client } = await threadAnswering([response([gate]), ...ANSWERS]);
    const { thread } = await client.request('thread/start', { ephemeral: true });
    await client.request('turn/start', { threadId: thread.id, input: text('go') });
    await gate.reached;
    await queue(client, 'a', { threadId: thread.id });
    expect(await waiting(client, thread.id)).toEqual(['a']);
    gate.open();
    await turnsEnded(client, 2);
    expect(await waiting(client, thread.id)).toEqual([]);
  });
});

describe('the queue of a thread that is', () => {
  test('archived is refused, and there again once it is unarchived', async () => {
    const { client } = await heldQueue(['a'], []);
    await client.request('thread/archive', { threadId });
    const params = {
      'thread/queue/list': {},
      'thread/queue/add': { clientUserMessageId: 'b', input: text('b') },
      'thread/queue/update': { queuedSubmissionId: UNKNOWN, input: text('b') },
      'thread/queue/reorder': { queuedSubmissionIds: [] },
      'thread/queue/delete': { queuedSubmissionId: UNKNOWN },
      'thread/queue/start': {},
    };
    for (const [method, more] of Object.entries(params))
      expect(await client.refusal(method, { threadId, ...more })).toMatchObject({
        data: { code: 'thread_archived' },
      });
    await client.request('thread/unarchive', { threadId });
    expect(await waiting(client)).toEqual(['a']);
  });

  test('forked stays with it: the fork has an empty queue, which is not held', async () => {
    const { client } = await heldQueue(['a'], []);
    const { thread } = await client.request('thread/fork', { threadId });
    expect([await waiting(client), await waiting(client, thread.id)]).toEqual([['a'], []]);
    expect(await heldBecause(client, thread.id)).toBe(null);
  });

  test('reverted stays, and is held if the revert interrupts a turn', async () => {
    const { client, turnId } = await busyThread(ANSWERS);
    const long = text('x'.repeat(300_000));
    await queue(client, 'a', { input: long });
    await client.request('thread/revert', { threadId, beforeTurnId: turnId });
    await settled(client, threadId);
    expect([await waiting(client), await heldBecause(client)]).toEqual([['a'], 'turnInterrupted']);
    await client.request('thread/queue/start', { threadId });
    await turnsEnded(client, 2);
    expect(await turnsOf(client)).toEqual([`${'x'.repeat(300_000)}: completed`]);
  });

  test('deleted is deleted with it', async () => {
    const { client, store } = await heldQueue(['a'], []);
    const { data } = await client.request('thread/queue/list', { threadId });
    await client.request('thread/delete', { threadId });
    expect(await client.refusal('thread/queue/list', { threadId })).toMatchObject({
      data: { code: 'thread_not_found' },
    });
    expect(data).toHaveLength(1);
    await expect(store.readQueued(threadId, [data[0]?.id ?? ''])).rejects.toThrow();
  });
});

describe('thread/queue/changed', () => {
  test('goes to the followers with the experimental API, for each change and each turn from the queue', async () => {
    const { client, gate, connect } = await busyThread(ANSWERS);
    const plain = await connect({ capabilities: null });
    const follower = await connect();
    const bystander = await connect();
    for (const each of [plain, follower]) await each.request('thread/resume', { threadId });
    const { id } = await queue(follower, 'a');
    const { id: other } = await queue(client, 'b');
    await client.request('thread/queue/update', {
      threadId,
      queuedSubmissionId: id,
      input: text('c'),
    });
    await client.request('thread/queue/reorder', { threadId, queuedSubmissionIds: [other, id] });
    // These change nothing.
    await client.request('thread/queue/reorder', { threadId, queuedSubmissionIds: [other, id] });
    await client.request('thread/queue/delete', { threadId, queuedSubmissionId: UNKNOWN });
    await client.request('thread/queue/delete', { threadId, queuedSubmissionId: other });
    gate.open();
    await turnsEnded(client, 2);
    await settled(follower, threadId);
    const changed = Array.from({ length: 6 }, () => ({ threadId, heldBecause: null }));
    expect(client.notifications('thread/queue/changed')).toEqual(changed);
    expect(follower.notifications('thread/queue/changed')).toEqual(changed);
    expect(bystander.notifications('thread/queue/changed')).toEqual([]);
    expect(plain.notifications('thread/queue/changed')).toEqual([]);
    expect(plain.notifications('turn/completed')).toHaveLength(2);
  });

  test('says that the queue is held, and that it goes on', async () => {
    const { client } = await heldQueue(['a'], ANSWERS);
    await client.request('thread/queue/start', { threadId });
    await turnsEnded(client, 2);
    expect(
      client.notifications('thread/queue/changed').map((params) => params.heldBecause),
    ).toEqual([null, 'turnInterrupted', null]);
  });

  test('the methods need the experimental API', async () => {
    const { client } = await withThread({ capabilities: null });
    expect(await client.refusal('thread/queue/list', { threadId })).toMatchObject({
      message: 'thread/queue/list requires experimentalApi capability',
    });
  });
});
