// @module-tag slow
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test, vi } from 'vitest';
import type { ThreadItem, Turn } from '../../src/protocol/generated/types.ts';
import { neverCollect } from '../../src/store/sqlite/connect/load-sqlite.ts';
import { answered, halfAnswer, ProviderServer } from '../model/provider-server.ts';
import { brief } from '../support/expected.ts';
import { type Message, text } from '../support/test-client.ts';
import { readTurns } from '../support/thread-with.ts';
import { type HeddleProcess, type Place, place, providerToml, startHeddle } from './support.ts';

interface MidTurn {
  where: Place;
  heddle: HeddleProcess;
  threadId: string;
  turnIds: [string, string];
}

/** A server that is in the middle of a thread's second turn. */
async function midTurn(provider: ProviderServer): Promise<MidTurn> {
  const where = place({ 'config.toml': providerToml(provider.port) });
  const heddle = await startHeddle(where);
  const { thread } = await heddle.request('thread/start', {});
  const { id } = await heddle.turn(thread.id, 'one');
  const { turn } = await heddle.request('turn/start', { threadId: thread.id, input: text('two') });
  await heddle.waitFor('item/agentMessage/delta', ({ delta }) => delta === 'half an answer');
  return { where, heddle, threadId: thread.id, turnIds: [id, turn.id] };
}

/**
 * Sends a request and kills the server with the message of that number; whether the answer was
 * among them.
 */
async function killAt(
  heddle: HeddleProcess,
  count: number,
  request: { method: string; params: object },
): Promise<boolean> {
  const seen = heddle.messages.length;
  heddle.send(JSON.stringify({ id: 'change', ...request }));
  await heddle.first(
    'the message',
    (found: Message) => heddle.messages.indexOf(found) >= seen + count - 1,
  );
  await heddle.kill();
  return heddle.messages.some(({ id }) => id === 'change');
}

const inShort = (turns: Turn[]) =>
  turns.map(({ status, items }: { status: string; items: ThreadItem[] }) => [
    status,
    ...brief(items),
  ]);
const FIRST = ['completed', 'user: one', 'agent: ok'];
const SECOND = ['interrupted', 'user: two', 'agent: half an answer'];

describe.each([1, 2, 3, 4])('kill -9 at message %i that comes', (count) => {
  test('of thread/archive in mid-turn: the turn reads interrupted, and what was answered holds', async () => {
    await using provider = await ProviderServer.start(answered, halfAnswer);
    const { where, heddle, threadId } = await midTurn(provider);
    const done = await killAt(heddle, count, { method: 'thread/archive', params: { threadId } });
    const next = await startHeddle(where);
    const archived = (await next.request('thread/list', { archived: true })).data.map(
      ({ id }) => id,
    );
    const listed = (await next.request('thread/list', {})).data.map(({ id }) => id);
    expect([...archived, ...listed]).toEqual([threadId]);
    if (done) expect(archived).toEqual([threadId]);
    expect(inShort(await readTurns(next, threadId))).toEqual([FIRST, SECOND]);
  });

  test('of thread/delete in mid-turn: the thread is there whole, or gone, and then nothing of it stays', async () => {
    await using provider = await ProviderServer.start(answered, halfAnswer, answered);
    const { where, heddle, threadId } = await midTurn(provider);
    const done = await killAt(heddle, count, { method: 'thread/delete', params: { threadId } });
    const next = await startHeddle(where);
    const isThere = (await next.request('thread/list', {})).data.length === 1;
    if (done) expect(isThere).toBe(false);
    if (isThere) expect(inShort(await readTurns(next, threadId))).toEqual([FIRST, SECOND]);
    else
      expect(await next.refusal('thread/resume', { threadId })).toMatchObject({
        data: { code: 'thread_not_found' },
      });

    if (isThere) await next.request('thread/delete', { threadId });
    else await next.request('thread/start', {});
    const db = neverCollect(new Database(join(where.home, 'heddle.db'), { readonly: true }));
    const rest = db
      .prepare('SELECT (SELECT count(*) FROM entry) + (SELECT count(*) FROM discarded_log)')
      .pluck();
    await vi.waitFor(() => expect(rest.get()).toBe(0), { timeout: 15_000, interval: 100 });
    db.close();
  });

  test('of thread/revert in mid-turn: it is done or not, for clients and the model alike', async () => {
    await using provider = await ProviderServer.start(answered, halfAnswer, answered);
    const { where, heddle, threadId, turnIds } = await midTurn(provider);
    const done = await killAt(heddle, count, {
      method: 'thread/revert',
      params: { threadId, beforeTurnId: turnIds[1] },
    });
    const next = await startHeddle(where);
    const { thread } = await next.request('thread/resume', { threadId });
    const turns = inShort(thread.turns);
    expect(turns).toEqual(turns.length === 1 ? [FIRST] : [FIRST, SECOND]);
    if (done) expect(turns).toHaveLength(1);
    expect(await next.turn(threadId, 'three')).toMatchObject({ status: 'completed' });
    expect(JSON.stringify(provider.requests.at(-1)?.body).includes('"two"')).toBe(
      turns.length === 2,
    );
    expect(inShort(await readTurns(next, threadId))).toEqual([
      ...turns,
      ['completed', 'user: three', 'agent: ok'],
    ]);
  });
});
