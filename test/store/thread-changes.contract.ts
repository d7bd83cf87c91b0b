import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { UntimedItem } from '../../src/protocol/generated/types.ts';
import type { ThreadStore } from '../../src/store/thread-store.ts';
import {
  agentMessage,
  command,
  everyThread,
  idOf,
  itemEntry,
  settings,
  storedItem,
  textsForModel,
  threadRecord,
  threadWithTurns,
  turnEnded,
  turnEntries,
  turnStarted,
  turnsInShort,
  turnsWithItems,
  userMessage,
  wholeTurn,
} from './samples.ts';
import type { StoreHarness } from './thread-store.contract.ts';

const t = (number: number) => `t${number}`;

/** The contract of every thread store for archived, deleted and reverted threads. */
export function describeThreadChanges(
  name: string,
  makeHarness: () => Promise<StoreHarness>,
): void {
  describe(`${name}: changes`, () => {
    let harness: StoreHarness;
    let store: ThreadStore;

    beforeEach(async () => {
      harness = await makeHarness();
      store = harness.open();
    });
    afterEach(() => harness.dispose());

    const listed = async (archived: boolean) =>
      (await store.listThreads({ ...everyThread, archived })).data.map(({ id }) => id);

    describe('the queue of a thread', () => {
      const long = 'long '.repeat(200_000);
      const submission = (id: string, words = `say ${id}`) => ({
        id,
        clientUserMessageId: `client ${id}`,
        input: [{ type: 'text' as const, text: words }],
        responsesapiClientMetadata: null,
      });
      const queueOf = (...ids: string[]) => ({
        waiting: ids.map((id) => ({ id, clientUserMessageId: `client ${id}`, chars: 9 })),
        begun: [],
      });

      test('has what was appended, in the order that is asked for, and loses what a patch leaves out', async () => {
        const writer = await threadWithTurns(store, 1, [t(1)]);
        const queued = [submission('a'), submission('b', long), submission('c')];
        await writer.append([], { patch: { queue: queueOf('a', 'b', 'c') }, queued });
        expect(await store.readQueued(idOf(1), ['c', 'x', 'a'])).toEqual([queued[2], queued[0]]);
        expect(await store.readQueued(idOf(1), ['b'])).toEqual([queued[1]]);
        expect((await store.getThread(idOf(1)))?.queue).toEqual(queueOf('a', 'b', 'c'));
        await writer.append([turnStarted(t(2))], {
          patch: { queue: queueOf('c', 'b'), queueHold: 'turnInterrupted' },
          queued: [submission('c', 'other words')],
        });
        expect(await store.readQueued(idOf(1), ['a', 'c'])).toEqual([
          submission('c', 'other words'),
        ]);
        await writer.append([], { patch: { updatedAtMs: 7 } });
        expect(await harness.open().readQueued(idOf(1), ['b'])).toEqual([queued[1]]);
        expect((await store.getThread(idOf(1)))?.queueHold).toBe('turnInterrupted');
      });

      test('reads at least one, and ends after a number of bytes', async () => {
        const writer = await threadWithTurns(store, 1, [t(1)]);
        const queued = ['a', 'b', 'c'].map((id) => submission(id, long));
        await writer.append([], { patch: { queue: queueOf('a', 'b', 'c') }, queued });
        expect(await store.readQueued(idOf(1), ['a', 'b', 'c'])).toEqual([queued[0]]);
      });

      test('stays when the thread is reverted', async () => {
        const writer = await threadWithTurns(store, 1, [t(1), t(2)]);
        const queued = [submission('a', long)];
        await writer.append([], { patch: { queue: queueOf('a') }, queued });
        await store.revertThread(idOf(1), t(2), {});
        expect(await store.readQueued(idOf(1), ['a'])).toEqual(queued);
      });

      test('is not in a fork, and goes with the thread', async () => {
        const writer = await threadWithTurns(store, 1, [t(1)]);
        const queued = [submission('a')];
        await writer.append([], { patch: { queue: queueOf('a') }, queued });
        await store.forkThread(idOf(1), null, threadRecord(2));
        expect(await store.readQueued(idOf(2), ['a'])).toEqual([]);
        await store.deleteThread(idOf(1));
        await expect(store.readQueued(idOf(1), ['a'])).rejects.toMatchObject({
          code: 'thread_not_found',
        });
      });
    });

    describe('wrong use', () => {
      test('an unknown thread is thread_not_found', async () => {
        const refused = { code: 'thread_not_found', details: { threadId: idOf(9) } };
        await expect(store.archiveThread(idOf(9), 1)).rejects.toMatchObject(refused);
        await expect(store.unarchiveThread(idOf(9), 1)).rejects.toMatchObject(refused);
        await expect(store.deleteThread(idOf(9))).rejects.toMatchObject(refused);
        await expect(store.revertThread(idOf(9), t(1), {})).rejects.toMatchObject(refused);
      });

      test('a thread that another process has is active_writer, and stays as it is', async () => {
        const writer = await threadWithTurns(store, 1, [t(1)]);
        const other = harness.open();
        const refused = { code: 'active_writer', details: { pid: expect.any(Number) } };
        await expect(other.archiveThread(idOf(1), 1)).rejects.toMatchObject(refused);
        await expect(other.unarchiveThread(idOf(1), 1)).rejects.toMatchObject(refused);
        await expect(other.deleteThread(idOf(1))).rejects.toMatchObject(refused);
        await expect(other.revertThread(idOf(1), t(1), { name: 'no' })).rejects.toMatchObject(
          refused,
        );
        await writer.append(turnEntries(t(2)));
        expect(await store.getThread(idOf(1))).toEqual(threadRecord(1));
        expect(await turnsInShort(other, idOf(1))).toEqual([t(1), t(2)].map(wholeTurn));
        await writer.close();
        await other.revertThread(idOf(1), t(1), {});
        await other.archiveThread(idOf(1), 1);
        await other.deleteThread(idOf(1));
      });

      test('a turn that the thread does not have, or no longer has, is turn_not_found, and nothing changes', async () => {
        await threadWithTurns(store, 1, [t(1), t(2)]);
        await store.revertThread(idOf(1), t(2), {});
        for (const turnId of ['other', t(2)]) {
          const refused = { code: 'turn_not_found', details: { threadId: idOf(1), turnId } };
          await expect(store.revertThread(idOf(1), turnId, { name: 'no' })).rejects.toMatchObject(
            refused,
          );
        }
        expect(await store.getThread(idOf(1))).toEqual(threadRecord(1));
        expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn(t(1))]);
      });
    });

    describe('an archived thread', () => {
      test('several are archived together, or none of them; again at the same time, nothing changes', async () => {
        for (const number of [1, 2, 3])
          await (await store.createThread(threadRecord(number))).close();
        const other = harness.open();
        const archived = async () => {
          const records = await Promise.all(
            [1, 2, 3].map((number) => other.getThread(idOf(number))),
          );
          return records.map((record) => record?.archivedAtMs);
        };
        const writer = await other.openWriter(idOf(3));
        await expect(store.archiveThreads([idOf(1), idOf(2), idOf(3)], 50)).rejects.toMatchObject({
          code: 'active_writer',
        });
        await expect(store.archiveThreads([idOf(1), idOf(9)], 50)).rejects.toMatchObject({
          code: 'thread_not_found',
        });
        expect(await archived()).toEqual([null, null, null]);
        await writer.close();
        await store.archiveThreads([idOf(1), idOf(2)], 50);
        await store.archiveThreads([idOf(1), idOf(2), idOf(3)], 50);
        expect(await archived()).toEqual([50, 50, 50]);
        await expect(store.archiveThreads([idOf(1)], 51)).rejects.toMatchObject({
          code: 'thread_archived',
        });
      });

      test('is only in the list of archived threads, until it is unarchived, which sets when it was updated', async () => {
        await (await threadWithTurns(store, 1, [t(1)])).close();
        await threadWithTurns(store, 2, [t(1)]);
        expect(await store.archiveThread(idOf(1), 50)).toEqual(
          threadRecord(1, { archivedAtMs: 50 }),
        );
        expect([await listed(false), await listed(true)]).toEqual([[idOf(2)], [idOf(1)]]);
        expect(await store.unarchiveThread(idOf(1), 60)).toEqual(
          threadRecord(1, { updatedAtMs: 60 }),
        );
        expect([await listed(false), await listed(true)]).toEqual([[idOf(2), idOf(1)], []]);
      });

      test('is archived once and unarchived once, also by several stores', async () => {
        await (await threadWithTurns(store, 1, [t(1)])).close();
        const stores = [store, harness.open()];
        const outcomes = async (change: (store: ThreadStore) => Promise<unknown>) =>
          (await Promise.allSettled(stores.map(change)))
            .map((result) => (result.status === 'rejected' ? result.reason.code : 'done'))
            .sort();
        expect(await outcomes((each) => each.archiveThread(idOf(1), 1))).toEqual([
          'done',
          'thread_archived',
        ]);
        expect(await outcomes((each) => each.unarchiveThread(idOf(1), 1))).toEqual([
          'done',
          'thread_not_archived',
        ]);
      });

      test('gets no new writer, keeps its turns, and can be read, forked and deleted', async () => {
        await (await threadWithTurns(store, 1, [t(1), t(2)])).close();
        await store.archiveThread(idOf(1), 1);
        await expect(store.openWriter(idOf(1))).rejects.toMatchObject({
          code: 'thread_archived',
          details: { threadId: idOf(1) },
        });
        await expect(store.revertThread(idOf(1), t(2), {})).rejects.toMatchObject({
          code: 'thread_archived',
        });
        expect(await turnsInShort(store, idOf(1))).toEqual([t(1), t(2)].map(wholeTurn));
        const fork = await store.forkThread(idOf(1), { afterTurnId: t(1) }, threadRecord(2));
        await fork.append(turnEntries(t(3)));
        await store.deleteThread(idOf(1));
        expect(await turnsInShort(store, idOf(2))).toEqual([t(1), t(3)].map(wholeTurn));
      });

      test('keeps the writer that it had, until that closes', async () => {
        const writer = await threadWithTurns(store, 1, [t(1)]);
        await store.archiveThread(idOf(1), 1);
        await writer.append(turnEntries(t(2)));
        await writer.close();
        await expect(store.openWriter(idOf(1))).rejects.toMatchObject({ code: 'thread_archived' });
        expect(await turnsInShort(store, idOf(1))).toEqual([t(1), t(2)].map(wholeTurn));
      });
    });

    describe('a deleted thread', () => {
      test('is gone in all stores, and its writer is closed; its id and its path are free', async () => {
        const writer = await threadWithTurns(store, 1, [t(1)]);
        await writer.append([turnStarted(t(2))]);
        await writer.append([], { partials: [storedItem(t(2), agentMessage('half'))] });
        await store.deleteThread(idOf(1));
        await expect(writer.append(turnEntries(t(3)))).rejects.toMatchObject({
          code: 'store_failed',
        });
        await writer.close();
        for (const reader of [store, harness.open()]) {
          expect(await reader.getThread(idOf(1))).toBeNull();
          expect(await reader.findThreadByPath('/sessions/1.jsonl')).toBeNull();
          await expect(reader.openWriter(idOf(1))).rejects.toMatchObject({
            code: 'thread_not_found',
          });
          await expect(reader.deleteThread(idOf(1))).rejects.toMatchObject({
            code: 'thread_not_found',
          });
          await expect(turnsWithItems(reader, idOf(1))).rejects.toMatchObject({
            code: 'thread_not_found',
          });
          await expect(reader.forkThread(idOf(1), null, threadRecord(2))).rejects.toMatchObject({
            code: 'thread_not_found',
          });
        }
        expect([await listed(false), await listed(true)]).toEqual([[], []]);
        const again = await threadWithTurns(store, 1, [t(4)]);
        await again.append([turnStarted(t(5))]);
        expect(await turnsInShort(store, idOf(1))).toEqual([
          wholeTurn(t(4)),
          `${t(5)} inProgress: `,
        ]);
      });

      test('does not change its forks, stored and ephemeral ones', async () => {
        const source = await threadWithTurns(store, 1, [t(1)]);
        await source.append([
          turnStarted(t(2)),
          itemEntry(t(2), agentMessage('long', 'x'.repeat(20_000))),
          turnEnded(t(2)),
        ]);
        await store.forkThread(idOf(1), null, threadRecord(2));
        await store.forkThread(idOf(2), null, threadRecord(3, { ephemeral: true, path: null }));
        await store.forkThread(idOf(3), null, threadRecord(4, { ephemeral: true, path: null }));
        for (const number of [1, 2, 3]) {
          await store.deleteThread(idOf(number));
          harness.clock.advance(60_000);
          expect(await turnsInShort(store, idOf(4))).toEqual([
            wholeTurn(t(1)),
            `${t(2)} completed: long`,
          ]);
        }
        const [item] = (await store.listItems(idOf(4), { direction: 'desc', limit: 1 })).data;
        expect(item?.item).toEqual(agentMessage('long', 'x'.repeat(20_000)));
        await store.forkThread(idOf(4), null, threadRecord(5));
        await store.deleteThread(idOf(4));
        harness.clock.advance(60_000);
        expect(await turnsInShort(harness.open(), idOf(5))).toEqual([
          wholeTurn(t(1)),
          `${t(2)} completed: long`,
        ]);
      });

      test('an ephemeral thread too', async () => {
        const writer = await store.createThread(
          threadRecord(1, { ephemeral: true, path: null }),
          turnEntries(t(1)),
        );
        await store.deleteThread(idOf(1));
        await expect(writer.append([])).rejects.toMatchObject({ code: 'store_failed' });
        expect(await store.getThread(idOf(1))).toBeNull();
      });
    });

    describe('a reverted thread', () => {
      const cuts: [string, number, number[]][] = [
        ['its last turn', 3, [1, 2]],
        ['a turn in the middle', 2, [1]],
        ['its first turn', 1, []],
      ];
      test.each(cuts)(
        'before %s has the turns up to there, and can continue',
        async (_name, cut, left) => {
          const writer = await threadWithTurns(store, 1, [t(1), t(2), t(3)]);
          const patch = { updatedAtMs: 70, told: null, preview: 'other' };
          expect(await store.revertThread(idOf(1), t(cut), patch)).toEqual(threadRecord(1, patch));
          await writer.append(turnEntries(t(4)));
          for (const reader of [store, harness.open()]) {
            expect(await reader.getThread(idOf(1))).toEqual(threadRecord(1, patch));
            expect(await turnsInShort(reader, idOf(1))).toEqual([...left, 4].map(t).map(wholeTurn));
            expect(await textsForModel(reader, idOf(1))).toEqual(
              [...left, 4].flatMap((turn) => [`${t(turn)} question`, `${t(turn)} answer`]),
            );
          }
          await writer.close();
          await (await store.openWriter(idOf(1))).append(turnEntries(t(5)));
          expect(await turnsInShort(store, idOf(1))).toEqual([...left, 4, 5].map(t).map(wholeTurn));
        },
      );

      test('can be reverted again, also in turns after an earlier revert, and without a writer', async () => {
        const writer = await threadWithTurns(store, 1, [t(1), t(2)]);
        await store.revertThread(idOf(1), t(2), {});
        await writer.append([...turnEntries(t(3)), ...turnEntries(t(4))]);
        await writer.close();
        await store.revertThread(idOf(1), t(4), {});
        await store.revertThread(idOf(1), t(3), {});
        const next = await store.openWriter(idOf(1));
        await next.append(turnEntries(t(2)));
        expect(await turnsInShort(harness.open(), idOf(1))).toEqual([t(1), t(2)].map(wholeTurn));
        await store.revertThread(idOf(1), t(1), {});
        expect(await turnsInShort(store, idOf(1))).toEqual([]);
        await next.append(turnEntries(t(1)));
        expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn(t(1))]);
      });

      test('before the turn in progress leaves nothing of it', async () => {
        const writer = await threadWithTurns(store, 1, [t(1)]);
        await writer.append([turnStarted(t(2)), itemEntry(t(2), userMessage('u'))]);
        await writer.append([], { partials: [storedItem(t(2), agentMessage('a'))] });
        await store.revertThread(idOf(1), t(2), {});
        expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn(t(1))]);
        await writer.append([turnStarted(t(3))]);
        expect(await turnsInShort(store, idOf(1))).toEqual([
          wholeTurn(t(1)),
          `${t(3)} inProgress: `,
        ]);
      });

      test('keeps the long strings of its record', async () => {
        const long = { ...settings, baseInstructions: 'x'.repeat(20_000) };
        const record = threadRecord(1, {
          settings: long,
          told: 'y'.repeat(20_000),
          source: { custom: 'z'.repeat(20_000) },
        });
        await store.createThread(record, [t(1), t(2)].flatMap(turnEntries));
        await store.revertThread(idOf(1), t(1), {});
        harness.clock.advance(60_000);
        expect(await harness.open().getThread(idOf(1))).toEqual(record);
      });

      test('and its forks are independent', async () => {
        const source = await threadWithTurns(store, 1, [t(1), t(2), t(3)]);
        const fork = await store.forkThread(idOf(1), null, threadRecord(2));
        await store.revertThread(idOf(1), t(2), {});
        await source.append(turnEntries(t(4)));
        await fork.append(turnEntries(t(5)));
        await store.revertThread(idOf(2), t(3), {});
        await fork.append(turnEntries(t(6)));
        harness.clock.advance(60_000);
        expect(await turnsInShort(store, idOf(1))).toEqual([t(1), t(4)].map(wholeTurn));
        expect(await turnsInShort(store, idOf(2))).toEqual([t(1), t(2), t(6)].map(wholeTurn));
      });

      test('can be ephemeral, over turns of its source and its own', async () => {
        await threadWithTurns(store, 1, [t(1), t(2)]);
        const fork = await store.forkThread(
          idOf(1),
          null,
          threadRecord(2, { ephemeral: true, path: null }),
        );
        await fork.append([...turnEntries(t(3)), ...turnEntries(t(4))]);
        await store.revertThread(idOf(2), t(4), {});
        expect(await turnsInShort(store, idOf(2))).toEqual([t(1), t(2), t(3)].map(wholeTurn));
        await store.revertThread(idOf(2), t(2), {});
        await fork.append(turnEntries(t(5)));
        await store.deleteThread(idOf(1));
        harness.clock.advance(60_000);
        expect(await turnsInShort(store, idOf(2))).toEqual([t(1), t(5)].map(wholeTurn));
      });

      test('refuses cursors into the removed part, also after new turns; cursors before it stay valid', async () => {
        const writer = await threadWithTurns(store, 1, [t(1), t(2), t(3)]);
        const turns = async (cursor: string | null) =>
          store.listTurns(idOf(1), { direction: 'asc', limit: 1, cursor, view: 'notLoaded' });
        const [first, second] = [await turns(null), await turns((await turns(null)).nextCursor)];
        const last = await store.listItems(idOf(1), { direction: 'desc', limit: 1 });
        const items = await store.listItems(idOf(1), { direction: 'asc', limit: 3 });
        await store.revertThread(idOf(1), t(2), {});
        const expectRefused = async () => {
          await expect(turns(second.nextCursor)).rejects.toMatchObject({ code: 'invalid_cursor' });
          for (const cursor of [last.nextCursor, last.backwardsCursor]) {
            await expect(
              store.listItems(idOf(1), { direction: 'desc', cursor }),
            ).rejects.toMatchObject({ code: 'invalid_cursor' });
          }
        };
        await expectRefused();
        expect((await turns(first.nextCursor)).data).toEqual([]);
        await writer.append([t(4), t(5), t(6)].flatMap(turnEntries));
        await expectRefused();
        expect((await turns(first.nextCursor)).data.map(({ id }) => id)).toEqual([t(4)]);
        const onwards = await store.listItems(idOf(1), {
          direction: 'asc',
          cursor: items.nextCursor,
          limit: 1,
        });
        expect(onwards.data.map(({ item }) => item.id)).toEqual([`${t(4)} question`]);
      });

      test('with the id of a deleted ephemeral thread, refuses its cursors', async () => {
        const record = threadRecord(1, { ephemeral: true, path: null });
        await store.createThread(record, [t(1), t(2)].flatMap(turnEntries));
        const { nextCursor } = await store.listTurns(idOf(1), {
          direction: 'asc',
          limit: 1,
          view: 'notLoaded',
        });
        await store.deleteThread(idOf(1));
        harness.clock.advance(60_000);
        await store.createThread(record, [t(3), t(4)].flatMap(turnEntries));
        const page = store.listTurns(idOf(1), {
          direction: 'asc',
          cursor: nextCursor,
          view: 'notLoaded',
        });
        await expect(page).rejects.toMatchObject({ code: 'invalid_cursor' });
      });

      test('after a turn that was cut off and never ended: that turn reads interrupted', async () => {
        const cutOff: UntimedItem[] = [userMessage('u'), command('c', 'completed')];
        const entries = [
          turnStarted(t(1)),
          ...cutOff.map((item) => itemEntry(t(1), item)),
          ...turnEntries(t(2)),
        ];
        const writer = await store.createThread(threadRecord(1), entries);
        await store.revertThread(idOf(1), t(2), {});
        await writer.append(turnEntries(t(3)));
        expect(await turnsInShort(store, idOf(1))).toEqual([
          `${t(1)} interrupted: u, c`,
          wholeTurn(t(3)),
        ]);
      });
    });
  });
}
