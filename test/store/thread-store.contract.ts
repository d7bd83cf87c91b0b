import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TurnTooLarge, wholeTurns } from '../../src/handlers/history/whole-turns.ts';
import type { UntimedItem } from '../../src/protocol/generated/types.ts';
import type { LogEntry } from '../../src/store/log-entry.ts';
import type { ItemQuery, Page, PageQuery, ThreadQuery } from '../../src/store/page-query.ts';
import type { ThreadPatch, ThreadRecord } from '../../src/store/thread-record.ts';
import type { ForkPoint, ThreadStore } from '../../src/store/thread-store.ts';
import type { FakeClock } from '../support/fake-clock.ts';
import { asked } from '../support/test-model.ts';
import {
  agentMessage,
  agentRecord,
  command,
  everyThread,
  idOf,
  itemEntry,
  itemsOf,
  modelItems,
  settings,
  shownItem,
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

/** A place for stores, empty at first. */
export interface StoreHarness {
  readonly clock: FakeClock;
  /** Opens a store there. A second one stands for another process. */
  open(): ThreadStore;
  /** Closes the stores that were opened, and removes their data. */
  dispose(): Promise<void>;
}

const NO_TOKENS = {
  totalTokens: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
};

const t = (number: number) => `t${number}`;

/** The contract of every thread store. */
export function describeThreadStore(name: string, makeHarness: () => Promise<StoreHarness>): void {
  describe(name, () => {
    let harness: StoreHarness;
    let store: ThreadStore;

    beforeEach(async () => {
      harness = await makeHarness();
      store = harness.open();
    });
    afterEach(() => harness.dispose());

    describe('wrong use', () => {
      test('an unknown thread is thread_not_found, and null in a search', async () => {
        const refused = {
          code: 'thread_not_found',
          message: `thread not found: ${idOf(9)}`,
          details: { threadId: idOf(9) },
        };
        expect(await store.getThread(idOf(9))).toBeNull();
        expect(await store.getMetadata(idOf(9))).toBeNull();
        expect(await store.findThreadByPath('/nowhere')).toBeNull();
        await expect(store.openWriter(idOf(9))).rejects.toMatchObject(refused);
        await expect(store.updateThread(idOf(9), { name: 'x' })).rejects.toMatchObject(refused);
        await expect(turnsWithItems(store, idOf(9))).rejects.toMatchObject(refused);
        await expect(store.listItems(idOf(9), { direction: 'asc' })).rejects.toMatchObject(refused);
        await expect(
          store.readItems(idOf(9), { turnId: 't1', itemIds: ['a'] }),
        ).rejects.toMatchObject(refused);
        await expect(modelItems(store, idOf(9))).rejects.toMatchObject(refused);
        await expect(store.forkThread(idOf(9), null, threadRecord(1))).rejects.toMatchObject(
          refused,
        );
      });

      test('a second writer is refused, in the same store and in another', async () => {
        const writer = await store.createThread(threadRecord(1));
        const refused = {
          code: 'active_writer',
          message: expect.stringMatching(
            /^thread .*0001 already has an active writer \(pid \d+\)$/,
          ),
        };
        await expect(store.openWriter(idOf(1))).rejects.toMatchObject(refused);
        await expect(harness.open().openWriter(idOf(1))).rejects.toMatchObject({
          ...refused,
          details: { pid: expect.any(Number) },
        });
        await writer.close();
        await (await harness.open().openWriter(idOf(1))).close();
        await store.openWriter(idOf(1));
      });

      test('a second writer is refused for an ephemeral thread too', async () => {
        const writer = await store.createThread(threadRecord(1, { ephemeral: true }));
        await expect(store.openWriter(idOf(1))).rejects.toMatchObject({ code: 'active_writer' });
        await writer.close();
        await store.openWriter(idOf(1));
      });

      test('a closed writer writes nothing, and can be closed again', async () => {
        const writer = await store.createThread(threadRecord(1));
        await writer.close();
        await writer.close();
        await expect(writer.append(turnEntries(t(1)))).rejects.toMatchObject({
          code: 'store_failed',
          message: expect.stringContaining('closed'),
        });
        await expect(
          writer.append([], { partials: [storedItem(t(1), agentMessage('a'))] }),
        ).rejects.toMatchObject({
          code: 'store_failed',
        });
        expect(await turnsInShort(store, idOf(1))).toEqual([]);
      });

      test('a closed store refuses everything, and can be closed again', async () => {
        const writer = await store.createThread(threadRecord(1));
        await store.close();
        await store.close();
        await expect(store.getThread(idOf(1))).rejects.toMatchObject({
          code: 'store_failed',
          message: expect.stringContaining('closed'),
        });
        await expect(writer.append([])).rejects.toMatchObject({ code: 'store_failed' });
      });

      test('a thread whose id is taken is refused, and leaves the other as it is', async () => {
        await threadWithTurns(store, 1, [t(1)]);
        await expect(store.createThread(threadRecord(1, { path: null }))).rejects.toMatchObject({
          code: 'store_failed',
        });
        expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn(t(1))]);
      });

      test.each([
        '',
        'nonsense',
        'bnVsbA',
        Buffer.from('["turns",1,1]').toString('base64url'),
        Buffer.from('{}').toString('base64url'),
      ])('the cursor %j is invalid_cursor', async (cursor) => {
        await threadWithTurns(store, 1, [t(1)]);
        const refused = { code: 'invalid_cursor', message: `invalid cursor: ${cursor}` };
        await expect(store.listThreads({ ...everyThread, cursor })).rejects.toMatchObject(refused);
        await expect(
          turnsWithItems(store, idOf(1), { cursor, direction: 'asc' }),
        ).rejects.toMatchObject(refused);
        await expect(store.listItems(idOf(1), { cursor, direction: 'asc' })).rejects.toMatchObject(
          refused,
        );
      });

      test('a cursor of another list or another thread is invalid_cursor', async () => {
        await threadWithTurns(store, 1, [t(1), t(2)]);
        await threadWithTurns(store, 2, [t(3)]);
        const threads = (await store.listThreads({ ...everyThread, limit: 1 })).nextCursor;
        const turns = (await turnsWithItems(store, idOf(1), { direction: 'asc', limit: 1 }))
          .nextCursor;
        const refused = { code: 'invalid_cursor' };
        await expect(
          store.listThreads({ ...everyThread, cursor: threads, sortKey: 'updatedAt' }),
        ).rejects.toMatchObject(refused);
        await expect(
          turnsWithItems(store, idOf(1), { cursor: threads, direction: 'asc' }),
        ).rejects.toMatchObject(refused);
        await expect(
          store.listItems(idOf(1), { cursor: turns, direction: 'asc' }),
        ).rejects.toMatchObject(refused);
        await expect(
          turnsWithItems(store, idOf(2), { cursor: turns, direction: 'asc' }),
        ).rejects.toMatchObject(refused);
      });

      test('a turn that the thread does not have is turn_not_found, and no fork is left behind', async () => {
        await threadWithTurns(store, 1, [t(1)]);
        const refused = { code: 'turn_not_found', details: { threadId: idOf(1), turnId: 'other' } };
        await expect(
          store.forkThread(idOf(1), { afterTurnId: 'other' }, threadRecord(2)),
        ).rejects.toMatchObject(refused);
        await expect(
          store.forkThread(idOf(1), { beforeTurnId: 'other' }, threadRecord(2)),
        ).rejects.toMatchObject(refused);
        await expect(
          store.listItems(idOf(1), { direction: 'asc', turnId: 'other' }),
        ).rejects.toMatchObject(refused);
        expect(await store.getThread(idOf(2))).toBeNull();
      });
    });

    describe('threads', () => {
      const rich = threadRecord(1, {
        sessionId: idOf(7),
        archivedAtMs: 99,
        name: 'a "name", 名前 %_',
        preview: 'line\nline',
        forkedFromId: idOf(8),
        source: {
          subAgent: {
            thread_spawn: {
              parent_thread_id: idOf(8),
              depth: 1,
              agent_path: null,
              agent_nickname: null,
              agent_role: null,
            },
          },
        },
        threadSource: 'user',
        originator: 'editor',
        gitInfo: { sha: 'abc', branch: 'main', originUrl: null },
        settings: {
          ...settings,
          effort: 'high',
          baseInstructions: 'x'.repeat(20_000),
          sandboxPolicy: { type: 'readOnly' },
        },
        tokenUsage: null,
        told: { cwd: '/project', files: ['\u0000blob:', '\ud800'] },
        memoryMode: 'disabled',
        daybreakEnabled: true,
        goal: {
          objective: 'all of it \ud800',
          status: 'budgetLimited',
          tokenBudget: 5,
          tokensUsed: 7,
          timeUsedMs: 1500,
          createdAtMs: 1,
          updatedAtMs: 2,
          awaitsUser: true,
        },
      });

      test('a record is read back unchanged, in this store and the next', async () => {
        await store.createThread(rich);
        expect(await store.getThread(idOf(1))).toEqual(rich);
        expect(await harness.open().getThread(idOf(1))).toEqual(rich);
        expect(await harness.open().findThreadByPath('/sessions/1.jsonl')).toEqual(rich);
      });

      test('every field that can change can be changed, alone and together', async () => {
        const record = threadRecord(1);
        await store.createThread(record);
        const patches: ThreadPatch[] = [
          { updatedAtMs: 2 },
          { recencyAtMs: 3 },
          { listed: false },
          { archivedAtMs: 4 },
          { name: 'named' },
          { preview: 'hello' },
          { gitInfo: { sha: 'abc', branch: null, originUrl: null } },
          { settings: { ...settings, cwd: '/elsewhere', model: 'other' } },
          { told: ['something'] },
          { memoryMode: 'enabled' },
          { daybreakEnabled: false },
          { agentClosedAtMs: 6 },
          { memoryMode: null, daybreakEnabled: null },
          { goal: rich.goal },
          { goal: null },
          { archivedAtMs: null, name: null, gitInfo: null, listed: true },
          {},
        ];
        let expected: ThreadRecord = record;
        for (const patch of patches) {
          expected = { ...expected, ...patch };
          expect(await store.updateThread(idOf(1), patch)).toEqual(expected);
          const { name, gitInfo, memoryMode, daybreakEnabled } = expected;
          expect(await harness.open().getMetadata(idOf(1))).toEqual({
            name,
            gitInfo,
            memoryMode,
            daybreakEnabled,
          });
        }
        expect(await harness.open().getThread(idOf(1))).toEqual(expected);
      });

      test('lone surrogates in a name and a preview are replaced', async () => {
        await store.createThread(threadRecord(1, { name: 'a\ud800b', preview: '\udc00' }));
        expect(await store.getThread(idOf(1))).toMatchObject({
          name: 'a\ufffdb',
          preview: '\ufffd',
        });
      });

      test('a list shows threads from their first turn on, and archived ones separately', async () => {
        await store.createThread(threadRecord(1, { listed: false }));
        await store.createThread(threadRecord(2));
        await store.createThread(threadRecord(3, { archivedAtMs: 5 }));
        await store.createThread(threadRecord(4, { ephemeral: true, path: null }));
        expect(await listed(everyThread)).toEqual([2]);
        expect(await listed({ ...everyThread, archived: true })).toEqual([3]);
        await store.updateThread(idOf(1), { listed: true });
        expect(await listed(everyThread)).toEqual([2, 1]);
      });

      test('a list has the requested order, and is sorted by id if times are equal', async () => {
        await store.createThread(
          threadRecord(1, { createdAtMs: 5, updatedAtMs: 9, recencyAtMs: 7 }),
        );
        await store.createThread(
          threadRecord(2, { createdAtMs: 5, updatedAtMs: 8, recencyAtMs: 9 }),
        );
        await store.createThread(
          threadRecord(3, { createdAtMs: 6, updatedAtMs: 7, recencyAtMs: 8 }),
        );
        expect(await listed({ ...everyThread, sortKey: 'createdAt' })).toEqual([3, 2, 1]);
        expect(await listed({ ...everyThread, sortKey: 'updatedAt' })).toEqual([1, 2, 3]);
        expect(await listed({ ...everyThread, sortKey: 'recencyAt' })).toEqual([2, 3, 1]);
        expect(await listed({ ...everyThread, sortKey: 'recencyAt', direction: 'asc' })).toEqual([
          1, 3, 2,
        ]);
      });

      test('pages of any size make the whole list, in both directions', async () => {
        for (let number = 1; number <= 7; number++)
          await store.createThread(threadRecord(number, { createdAtMs: number >> 1 }));
        await expectPages((query) => store.listThreads({ ...everyThread, ...query }));
      });

      test('filters', async () => {
        await store.createThread(
          threadRecord(1, { settings: { ...settings, cwd: '/a', modelProvider: 'one' } }),
        );
        await store.createThread(
          threadRecord(2, {
            settings: { ...settings, cwd: '/b', modelProvider: 'two' },
            source: 'cli',
          }),
        );
        await store.createThread(threadRecord(3, { source: { subAgent: 'review' } }));
        await store.createThread(threadRecord(4, { source: { subAgent: { other: 'helper' } } }));
        await store.createThread(threadRecord(5, { source: { custom: 'mine' } }));
        expect(await listed({ ...everyThread, cwds: ['/a', '/b'] })).toEqual([2, 1]);
        expect(await listed({ ...everyThread, cwds: [] })).toEqual([]);
        expect(await listed({ ...everyThread, modelProviders: ['two', 'three'] })).toEqual([2]);
        expect(await listed({ ...everyThread, sources: ['cli', 'custom'] })).toEqual([5, 2]);
        expect(await listed({ ...everyThread, sources: ['subAgentReview'] })).toEqual([3]);
        expect(await listed({ ...everyThread, sources: ['subAgent'] })).toEqual([4, 3]);
        expect(await listed({ ...everyThread, sources: ['vscode'], cwds: ['/b'] })).toEqual([]);
        await store.createThread(threadRecord(6, { originator: 'an editor' }));
        expect(await listed({ ...everyThread, originators: ['an editor', 'another'] })).toEqual([
          6,
        ]);
        expect(await listed({ ...everyThread, originators: [] })).toEqual([]);
        expect(await listed({ ...everyThread, excludedIds: [idOf(2), idOf(6), idOf(99)] })).toEqual(
          [5, 4, 3, 1],
        );
        expect(await listed({ ...everyThread, excludedIds: [], limit: 1 })).toEqual([6]);
        await store.updateThread(idOf(1), {
          settings: { ...settings, cwd: '/c', modelProvider: 'two' },
        });
        expect(await listed({ ...everyThread, cwds: ['/c'], modelProviders: ['two'] })).toEqual([
          1,
        ]);
      });

      test('the agents below a thread: listed by parent and ancestor, and read with those that are not listed', async () => {
        await store.createThread(threadRecord(1));
        await store.createThread(agentRecord(2, 1));
        await store.createThread(agentRecord(3, 2, { archivedAtMs: 7 }));
        await store.createThread(
          agentRecord(4, 2, { listed: false, agentClosedAtMs: 8, spawnTurnId: 't1' }),
        );
        await store.createThread(agentRecord(5, 9));
        expect(await listed({ ...everyThread, parentId: idOf(1) })).toEqual([2]);
        expect(await listed({ ...everyThread, ancestorId: idOf(1) })).toEqual([2]);
        expect(await listed({ ...everyThread, ancestorId: idOf(1), archived: true })).toEqual([3]);
        expect(await listed({ ...everyThread, parentId: idOf(2) })).toEqual([]);
        const below = await store.listAgents(idOf(1));
        expect(below.map(({ id, listed: isListed }) => [id, isListed])).toEqual([
          [idOf(2), true],
          [idOf(3), true],
          [idOf(4), false],
        ]);
        expect(below[2]).toMatchObject({
          agentClosedAtMs: 8,
          spawnTurnId: 't1',
          source: agentRecord(4, 2).source,
        });
        expect((await store.agentIds(idOf(1))).sort()).toEqual([idOf(2), idOf(3), idOf(4)]);
        await store.deleteThread(idOf(2));
        expect(await store.listAgents(idOf(1))).toEqual([]);
        expect(await store.agentIds(idOf(1))).toEqual([]);
      });

      test('many agents, at several depths, are all read, oldest first', async () => {
        await store.createThread(threadRecord(1));
        for (let number = 2; number <= 1_003; number++)
          await store.createThread(
            agentRecord(number, Math.max(1, number % 7 === 0 ? number - 5 : 1)),
          );
        const numbers = Array.from({ length: 1_002 }, (_, index) => idOf(index + 2));
        expect((await store.listAgents(idOf(1))).map(({ id }) => id)).toEqual(numbers);
        expect((await store.agentIds(idOf(1))).sort()).toEqual(numbers);
      });

      test('the tokens of the agents below a thread, except some', async () => {
        const used = (totalTokens: number) => {
          const total = { ...NO_TOKENS, totalTokens, outputTokens: totalTokens };
          return {
            tokenUsage: { turnId: 't', usage: { total, last: total, modelContextWindow: null } },
          };
        };
        await store.createThread(threadRecord(1, used(1)));
        expect(await store.tokensBelow(idOf(1), [])).toBeNull();
        await store.createThread(agentRecord(2, 1, used(20)));
        await store.createThread(agentRecord(3, 2, used(300)));
        await store.createThread(agentRecord(4, 3));
        await store.createThread(agentRecord(5, 9, used(4_000)));
        expect(await store.tokensBelow(idOf(1), [])).toEqual({
          ...NO_TOKENS,
          totalTokens: 320,
          outputTokens: 320,
        });
        expect(await store.tokensBelow(idOf(1), [idOf(2)])).toEqual({
          ...NO_TOKENS,
          totalTokens: 300,
          outputTokens: 300,
        });
        expect(await store.tokensBelow(idOf(1), [idOf(2), idOf(3)])).toBeNull();
      });

      test('the agents that have had no turn, and the open ones of turns that the thread no longer has', async () => {
        await threadWithTurns(store, 1, ['t1', 't2']);
        await store.createThread(agentRecord(2, 1, { spawnTurnId: 't1' }));
        await store.createThread(agentRecord(3, 1, { spawnTurnId: 't2' }));
        await store.createThread(agentRecord(4, 1, { spawnTurnId: 't2', agentClosedAtMs: 5 }));
        await store.createThread(agentRecord(5, 1, { spawnTurnId: 't2', archivedAtMs: 5 }));
        await store.createThread(agentRecord(6, 1, { listed: false }));
        await store.createThread(agentRecord(7, 3, { listed: false, spawnTurnId: 't2' }));
        expect(await store.leftAgents(idOf(1))).toEqual({ unlisted: [idOf(6)], orphans: [] });
        await store.revertThread(idOf(1), 't2', { updatedAtMs: 9 });
        expect(await store.leftAgents(idOf(1))).toEqual({
          unlisted: [idOf(6)],
          orphans: [idOf(3)],
        });
      });

      test('the agents of an ephemeral thread', async () => {
        await store.createThread(threadRecord(1, { ephemeral: true, path: null }));
        await store.createThread(agentRecord(2, 1, { ephemeral: true, path: null }));
        expect((await store.listAgents(idOf(1))).map(({ id }) => id)).toEqual([idOf(2)]);
      });

      test('an ephemeral thread exists only in its store, until that closes', async () => {
        const record = threadRecord(1, { ephemeral: true, path: null });
        const writer = await store.createThread(record);
        await writer.append(turnEntries(t(1)), { patch: { name: 'passing' } });
        expect(await store.getThread(idOf(1))).toEqual({ ...record, name: 'passing' });
        expect(await store.updateThread(idOf(1), { name: null })).toEqual(record);
        expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn(t(1))]);
        expect(await harness.open().getThread(idOf(1))).toBeNull();
      });

      async function listed(query: ThreadQuery): Promise<number[]> {
        return (await store.listThreads(query)).data.map((thread) => Number(thread.id.slice(-12)));
      }
    });

    describe('a turn', () => {
      test('is in progress while its writer lives, with its unfinished items; other stores see the same', async () => {
        const writer = await store.createThread(threadRecord(1));
        await writer.append([turnStarted(t(1)), itemEntry(t(1), userMessage('u'))]);
        await writer.append([], { partials: [storedItem(t(1), command('c', 'inProgress'))] });
        await writer.append([], { partials: [storedItem(t(1), agentMessage('a', 'hal'))] });
        await writer.append([], { partials: [storedItem(t(1), agentMessage('a', 'half'))] });
        const turn = {
          id: t(1),
          status: 'inProgress',
          error: null,
          startedAtMs: 10,
          completedAtMs: null,
          durationMs: null,
          items: [
            shownItem(userMessage('u')),
            shownItem(command('c', 'inProgress'), null),
            shownItem(agentMessage('a', 'half'), null),
          ],
          itemsView: 'full',
        };
        for (const reader of [store, harness.open()]) {
          expect((await turnsWithItems(reader, idOf(1), { direction: 'desc' })).data).toEqual([
            turn,
          ]);
          expect((await reader.listItems(idOf(1), { direction: 'asc' })).data).toEqual([
            { turnId: t(1), item: userMessage('u'), startedAtMs: 11, completedAtMs: 12 },
            storedItem(t(1), command('c', 'inProgress')),
            storedItem(t(1), agentMessage('a', 'half')),
          ]);
          expect(
            (await reader.readItems(idOf(1), { turnId: t(1), itemIds: ['a', 'nobody', 'u', 'a'] }))
              .items,
          ).toEqual([
            { turnId: t(1), item: userMessage('u'), startedAtMs: 11, completedAtMs: 12 },
            storedItem(t(1), agentMessage('a', 'half')),
          ]);
        }
      });

      test('has only its own items, also if another turn has some of the same ids', async () => {
        const writer = await store.createThread(threadRecord(1));
        for (const turn of [t(1), t(2)])
          await writer.append([
            turnStarted(turn),
            itemEntry(turn, agentMessage('a', turn)),
            turnEnded(turn),
          ]);
        const texts = async (turnId: string) =>
          (await store.readItems(idOf(1), { turnId, itemIds: ['a'] })).items.map(
            ({ item }) => item.type === 'agentMessage' && item.text,
          );
        expect([await texts(t(1)), await texts(t(2)), await texts('other')]).toEqual([
          [t(1)],
          [t(2)],
          [],
        ]);
      });

      test('that its writer left unfinished ends interrupted, with its items, before and after the next writer', async () => {
        const writer = await store.createThread(threadRecord(1));
        const startedAtMs = harness.clock.now();
        await writer.append([
          { kind: 'turnStarted', turnId: t(1), startedAtMs },
          itemEntry(t(1), userMessage('u')),
        ]);
        harness.clock.advance(500);
        await writer.append([], { partials: [storedItem(t(1), command('c', 'inProgress'))] });
        harness.clock.advance(500);
        await writer.append([], { partials: [storedItem(t(1), agentMessage('a', 'half'))] });
        await writer.close();
        harness.clock.advance(60_000);
        const turn = {
          id: t(1),
          status: 'interrupted',
          error: null,
          startedAtMs,
          completedAtMs: startedAtMs + 1000,
          durationMs: 1000,
          items: [
            shownItem(userMessage('u')),
            shownItem(command('c', 'failed'), startedAtMs + 500),
            shownItem(agentMessage('a', 'half'), startedAtMs + 1000),
          ],
          itemsView: 'full',
        };
        const items = [
          { turnId: t(1), item: userMessage('u'), startedAtMs: 11, completedAtMs: 12 },
          {
            turnId: t(1),
            item: command('c', 'failed'),
            startedAtMs: 11,
            completedAtMs: startedAtMs + 500,
          },
          {
            turnId: t(1),
            item: agentMessage('a', 'half'),
            startedAtMs: 11,
            completedAtMs: startedAtMs + 1000,
          },
        ];
        const before = await store.listItems(idOf(1), { direction: 'asc', limit: 2 });
        expect((await turnsWithItems(store, idOf(1))).data).toEqual([turn]);
        expect((await store.listItems(idOf(1), { direction: 'asc' })).data).toEqual(items);

        const next = await store.openWriter(idOf(1));
        expect((await turnsWithItems(store, idOf(1))).data).toEqual([turn]);
        expect((await store.listItems(idOf(1), { direction: 'asc' })).data).toEqual(items);
        const rest = await store.listItems(idOf(1), {
          direction: 'asc',
          cursor: before.nextCursor,
        });
        expect(rest.data, 'a cursor from before goes on').toEqual(items.slice(2));
        await next.append(turnEntries(t(2)));
        await next.close();
        await store.openWriter(idOf(1));
        expect(await turnsInShort(store, idOf(1))).toEqual([
          `${t(1)} interrupted: u, c, a`,
          wholeTurn(t(2)),
        ]);
      });

      test('loses a partial when its item completes, and the other partials when it ends', async () => {
        const writer = await store.createThread(threadRecord(1));
        await writer.append([turnStarted(t(1))]);
        await writer.append([], { partials: [storedItem(t(1), agentMessage('a', 'half'))] });
        await writer.append([], { partials: [storedItem(t(1), agentMessage('b', 'voided'))] });
        await writer.append([itemEntry(t(1), agentMessage('a', 'whole'))]);
        expect(await turnsInShort(store, idOf(1))).toEqual([`${t(1)} inProgress: a, b`]);
        await writer.append([turnEnded(t(1))]);
        expect(await turnsInShort(store, idOf(1))).toEqual([`${t(1)} completed: a`]);
      });

      test('keeps its status and its error', async () => {
        const error = { message: 'no', codexErrorInfo: 'other' as const, additionalDetails: 'x' };
        const ended: LogEntry = {
          kind: 'turnEnded',
          turnId: t(1),
          status: 'failed',
          error,
          completedAtMs: 20,
          durationMs: 10,
        };
        const writer = await store.createThread(threadRecord(1));
        await writer.append([turnStarted(t(1)), ended], { durable: true });
        const { data } = await store.listTurns(idOf(1), { direction: 'asc', view: 'notLoaded' });
        expect(data).toEqual([
          {
            id: t(1),
            status: 'failed',
            error,
            startedAtMs: 10,
            completedAtMs: 20,
            durationMs: 10,
            items: [],
            itemsView: 'notLoaded',
          },
        ]);
      });

      test('has no items, its first question and last answer, or all items', async () => {
        const writer = await store.createThread(threadRecord(1));
        const items = [
          userMessage('u1'),
          agentMessage('a1'),
          command('c', 'completed'),
          userMessage('u2'),
          agentMessage('a2'),
          command('d', 'failed'),
        ];
        await writer.append([
          turnStarted(t(1)),
          ...items.map((item) => itemEntry(t(1), item)),
          turnEnded(t(1)),
        ]);
        const ids = (turns: { items: { id: string }[] }[]) =>
          turns.map((turn) => turn.items.map((item) => item.id));
        const view = async (itemsView: 'notLoaded' | 'summary') =>
          ids((await store.listTurns(idOf(1), { direction: 'asc', view: itemsView })).data);
        expect(await view('notLoaded')).toEqual([[]]);
        expect(await view('summary')).toEqual([['u1', 'a2']]);
        expect(ids((await turnsWithItems(store, idOf(1))).data)).toEqual([
          ['u1', 'a1', 'c', 'u2', 'a2', 'd'],
        ]);
      });

      test('that was cut off and followed by another is interrupted', async () => {
        const writer = await store.createThread(threadRecord(1), [
          turnStarted(t(1)),
          itemEntry(t(1), userMessage('u')),
          ...turnEntries(t(2)),
        ]);
        expect(await turnsInShort(store, idOf(1))).toEqual([
          `${t(1)} interrupted: u`,
          wholeTurn(t(2)),
        ]);
        await writer.append([turnStarted(t(3))]);
        const first = await store.listTurns(idOf(1), {
          direction: 'asc',
          limit: 1,
          view: 'notLoaded',
        });
        expect(first.data).toMatchObject([
          { id: t(1), status: 'interrupted', completedAtMs: null },
        ]);
        await writer.close();
        expect((await turnsInShort(store, idOf(1)))[0]).toEqual(`${t(1)} interrupted: u`);
      });

      test('does not show a partial that was saved after its own turn had ended', async () => {
        const writer = await threadWithTurns(store, 1, [t(1)]);
        await writer.append([], { partials: [storedItem(t(1), agentMessage('late'))] });
        expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn(t(1))]);
        await writer.append([turnStarted(t(2))]);
        expect(await turnsInShort(store, idOf(1))).toEqual([
          wholeTurn(t(1)),
          `${t(2)} inProgress: `,
        ]);
        await writer.close();
        await store.openWriter(idOf(1));
        expect(await turnsInShort(store, idOf(1))).toEqual([
          wholeTurn(t(1)),
          `${t(2)} interrupted: `,
        ]);
      });
    });

    describe('a history', () => {
      test('an append and its patch are both stored', async () => {
        const writer = await store.createThread(threadRecord(1, { listed: false }));
        await writer.append(turnEntries(t(1)), {
          patch: { listed: true, preview: 'first', updatedAtMs: 70 },
        });
        await writer.append([], { patch: { recencyAtMs: 71 } });
        await writer.append([]);
        const reader = harness.open();
        expect(await reader.getThread(idOf(1))).toEqual(
          threadRecord(1, { preview: 'first', updatedAtMs: 70, recencyAtMs: 71 }),
        );
        expect(await turnsInShort(reader, idOf(1))).toEqual([wholeTurn(t(1))]);
        expect(await textsForModel(reader, idOf(1))).toEqual([
          `${t(1)} question`,
          `${t(1)} answer`,
        ]);
      });

      test('a compaction replaces what the model has read before it, deferred items too, and the turns stay', async () => {
        const writer = await threadWithTurns(store, 1, [t(1), t(2)]);
        const { cursor } = await store.readModelEntries(idOf(1), { cursor: null, bytesMax: 1 });
        const deferred: LogEntry = {
          kind: 'model',
          turnId: t(3),
          item: asked('deferred'),
          deferred: true,
        };
        const compacted: LogEntry = {
          kind: 'compacted',
          turnId: t(3),
          items: [asked('in short'), asked('x'.repeat(20_000))],
        };
        await writer.append([
          turnStarted(t(3)),
          deferred,
          compacted,
          turnEnded(t(3)),
          ...turnEntries(t(4)),
        ]);
        const reader = harness.open();
        const texts = ['in short', 'x'.repeat(20_000), `${t(4)} question`, `${t(4)} answer`];
        expect(await textsForModel(reader, idOf(1))).toEqual(texts);
        expect((await modelItems(reader, idOf(1), 1)).length).toBe(4);
        expect((await reader.readModelEntries(idOf(1), { cursor: null })).entries[0]).toEqual(
          compacted,
        );
        // A reader that had begun before it goes on as usual.
        expect((await reader.readModelEntries(idOf(1), { cursor })).entries).toContainEqual(
          compacted,
        );
        expect((await turnsInShort(reader, idOf(1))).slice(0, 2)).toEqual([
          wholeTurn(t(1)),
          wholeTurn(t(2)),
        ]);
        await store.forkThread(idOf(1), { beforeTurnId: t(3) }, threadRecord(2));
        await store.forkThread(idOf(1), { afterTurnId: t(3) }, threadRecord(3));
        expect(await textsForModel(store, idOf(2))).toEqual(
          [t(1), t(2)].flatMap((id) => [`${id} question`, `${id} answer`]),
        );
        expect(await textsForModel(store, idOf(3))).toEqual(texts.slice(0, 2));
        await store.revertThread(idOf(1), t(3), {});
        expect((await textsForModel(store, idOf(1))).length).toBe(4);
      });

      test('an imported history is stored with the thread', async () => {
        await store.createThread(threadRecord(1), [
          { kind: 'model', turnId: null, item: asked('context') },
          ...turnEntries(t(1)),
        ]);
        expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn(t(1))]);
        expect(await textsForModel(store, idOf(1))).toEqual([
          'context',
          `${t(1)} question`,
          `${t(1)} answer`,
        ]);
      });

      test('items are read back unchanged: any type, any key, any string, any length', async () => {
        const long = 'é'.repeat(30_000);
        const items: UntimedItem[] = [
          agentMessage('lone', 'a\ud800b\udc00'),
          agentMessage('zero', 'a\u0000b'),
          agentMessage('mark', '\u0000blob:'),
          agentMessage('false mark', `\u0000blob:${'0'.repeat(64)}`),
          agentMessage('long', long),
          agentMessage('long again', long),
          agentMessage('long and lone', `${long}\ud800`),
          {
            type: 'mcpToolCall',
            id: 'keys',
            server: 's',
            tool: 't',
            status: 'completed',
            arguments: JSON.parse('{"__proto__":{"a":[1,{"toString":"x"}]},"constructor":null}'),
          },
          JSON.parse(
            '{"type":"fromTheFuture","id":"unknown","deep":{"__proto__":1,"list":[null,1.5,"x"]}}',
          ),
          { type: 'reasoning', id: 'r', summary: [long, ''], content: [] },
        ];
        const writer = await store.createThread(threadRecord(1));
        await writer.append([
          turnStarted(t(1)),
          ...items.map((item) => itemEntry(t(1), item)),
          turnEnded(t(1)),
        ]);
        const reader = harness.open();
        const [turn] = (await turnsWithItems(reader, idOf(1))).data;
        // As JSON, because a comparison of objects would ignore `__proto__`.
        expect(turn?.items.map((item) => JSON.stringify(item))).toEqual(
          items.map((item) => JSON.stringify(shownItem(item))),
        );
      });

      test('a partial is read back unchanged', async () => {
        const item = agentMessage('a', `\u0000blob:${'x'.repeat(20_000)}\ud800`);
        const writer = await store.createThread(threadRecord(1));
        await writer.append([turnStarted(t(1))]);
        await writer.append([], { partials: [storedItem(t(1), item)] });
        expect((await store.listItems(idOf(1), { direction: 'asc' })).data).toEqual([
          storedItem(t(1), item),
        ]);
        await writer.close();
        expect((await store.listItems(idOf(1), { direction: 'asc' })).data).toMatchObject([
          { item },
        ]);
        await store.openWriter(idOf(1));
        expect((await store.listItems(idOf(1), { direction: 'asc' })).data).toMatchObject([
          { item },
        ]);
      });

      test('pages of any size have all turns and items, in both directions, also where a fork begins', async () => {
        const source = await threadWithTurns(store, 1, [t(1), t(2), t(3)]);
        await source.append([turnStarted(t(4)), itemEntry(t(4), userMessage('u'))]);
        await source.append([], { partials: [storedItem(t(4), agentMessage('half'))] });
        const fork = await store.forkThread(idOf(1), null, threadRecord(2));
        await fork.append([...turnEntries(t(5)), turnStarted(t(6))]);
        await fork.append([], { partials: [storedItem(t(6), agentMessage('more'))] });
        for (const threadId of [idOf(1), idOf(2)]) {
          await expectPages((query) => turnsWithItems(store, threadId, { ...query }));
          await expectPages((query) => store.listTurns(threadId, { ...query, view: 'summary' }));
          await expectPages((query) => store.listItems(threadId, query));
        }
        await expectPages((query) => store.listItems(idOf(2), { ...query, turnId: t(4) }));
        await fork.close();
        await expectPages((query) => store.listItems(idOf(2), query));
      });

      test('pages end before they exceed their bytes, have an entry at least, and together have all entries', async () => {
        const writer = await threadWithTurns(store, 1, [t(1)]);
        const long = [1, 2, 3, 4].map((number) =>
          agentMessage(`long ${number}`, `${number}`.repeat(20_000)),
        );
        await writer.append([
          turnStarted(t(2)),
          ...long.map((item) => itemEntry(t(2), item)),
          turnEnded(t(2)),
        ]);
        const oldestFirst = await itemsOf(store, idOf(1));
        for (const bytesMax of [1, 500, 20_500, 41_000, 1_000_000]) {
          const list = async (query: PageQuery) => {
            const page = await store.listItems(idOf(1), { ...query, bytesMax });
            expect(page.data.length === 1 || page.bytes <= bytesMax).toBe(true);
            return page;
          };
          expect(await allPages(list, 'asc')).toEqual(oldestFirst);
          expect(await allPages(list, 'desc')).toEqual(oldestFirst.toReversed());
          const turns = await store.listTurns(idOf(1), {
            direction: 'asc',
            bytesMax,
            view: 'summary',
          });
          expect(turns.data).toHaveLength(bytesMax > 20_500 ? 2 : 1);
        }
        const bytes = (await store.measureItems(idOf(1), {})).bytes;
        expect(bytes).toBeGreaterThan(80_000);
        expect((await store.measureItems(idOf(1), { turnId: t(1) })).bytes).toBeLessThan(
          bytes - 80_000,
        );
      });

      test('the measured items of a turn that was cut off are those that are listed', async () => {
        const writer = await threadWithTurns(store, 1, [t(1)]);
        await writer.append([turnStarted(t(2)), itemEntry(t(2), agentMessage('a'))]);
        await writer.append([], { partials: [storedItem(t(2), agentMessage('b'))] });
        await writer.close();
        const { bytes } = await store.listItems(idOf(1), { direction: 'asc' });
        expect((await store.measureItems(idOf(1), {})).bytes).toBe(bytes);
      });

      test('the entries for the model come in parts, and go on with those that are stored later', async () => {
        const writer = await threadWithTurns(store, 1, [t(1), t(2)]);
        const whole = await modelItems(store, idOf(1));
        for (const bytesMax of [1, 300, 500])
          expect(await modelItems(store, idOf(1), bytesMax)).toEqual(whole);
        const { cursor } = await store.readModelEntries(idOf(1), { cursor: null });
        await writer.append(turnEntries(t(3)));
        const later = await store.readModelEntries(idOf(1), { cursor });
        expect(later.entries.map((entry) => entry.turnId)).toEqual([t(3), t(3)]);
        await expect(store.readModelEntries(idOf(1), { cursor: 'x' })).rejects.toMatchObject({
          code: 'invalid_cursor',
        });
      });

      test('many named items come in parts', async () => {
        const writer = await store.createThread(threadRecord(1));
        const long = [1, 2, 3].map((number) =>
          agentMessage(`long ${number}`, `${number}`.repeat(600_000)),
        );
        await writer.append([
          turnStarted(t(1)),
          ...long.map((item) => itemEntry(t(1), item)),
          turnEnded(t(1)),
        ]);
        const first = await store.readItems(idOf(1), {
          turnId: t(1),
          itemIds: ['long 3', 'long 1', 'long 2'],
        });
        expect([first.items.map(({ item }) => item.id), first.rest]).toEqual([
          ['long 1'],
          ['long 2', 'long 3'],
        ]);
      });

      test('whole turns come in pages of bytes, oldest or newest first, with their items in order', async () => {
        const writer = await threadWithTurns(store, 1, [t(1), t(2), t(3)]);
        await writer.append([turnStarted(t(4)), itemEntry(t(4), userMessage('u'))]);
        for (const direction of ['asc', 'desc'] as const) {
          const whole = (await turnsWithItems(store, idOf(1), { direction })).data;
          expect(whole.map(({ items }) => items.length)).toEqual(
            direction === 'asc' ? [3, 3, 3, 1] : [1, 3, 3, 3],
          );
          for (const bytesMax of [1, 700, 1_500, 100_000]) {
            const limits = { bytesMax, turnBytesMax: 1_000_000 };
            const list = (query: PageQuery) =>
              wholeTurns(slicedFinely(store, 300), idOf(1), query, limits);
            expect(await allPages(list, direction)).toEqual(whole);
          }
        }
        const refused = wholeTurns(
          slicedFinely(store, 100),
          idOf(1),
          { direction: 'asc' },
          { bytesMax: 1, turnBytesMax: 1 },
        );
        await expect(refused).rejects.toThrow(TurnTooLarge);
      });

      test('the items of one turn', async () => {
        await threadWithTurns(store, 1, [t(1), t(2), t(3)]);
        const { data } = await store.listItems(idOf(1), { direction: 'desc', turnId: t(2) });
        expect(data.map(({ turnId, item }) => [turnId, item.id])).toEqual([
          [t(2), `${t(2)} answer`],
          [t(2), `${t(2)} command`],
          [t(2), `${t(2)} question`],
        ]);
      });

      test('a backwards cursor begins with the first entry of its page, and finds later entries', async () => {
        const writer = await threadWithTurns(store, 1, [t(1), t(2)]);
        const { backwardsCursor } = await store.listTurns(idOf(1), {
          direction: 'desc',
          limit: 1,
          view: 'notLoaded',
        });
        await writer.append(turnEntries(t(3)));
        const since = await store.listTurns(idOf(1), {
          direction: 'asc',
          cursor: backwardsCursor,
          view: 'notLoaded',
        });
        expect(since.data.map((turn) => turn.id)).toEqual([t(2), t(3)]);
      });

      test('an empty thread has an empty page', async () => {
        await store.createThread(threadRecord(1));
        const nothing = { data: [], nextCursor: null, backwardsCursor: null };
        expect(await turnsWithItems(store, idOf(1), { direction: 'desc', limit: 5 })).toEqual(
          nothing,
        );
        expect(await store.listItems(idOf(1), { direction: 'asc' })).toEqual({
          ...nothing,
          bytes: 0,
        });
        expect(await modelItems(store, idOf(1))).toEqual([]);
      });
    });

    describe('a fork', () => {
      const points: [string, ForkPoint, string[]][] = [
        ['whole', null, [t(1), t(2), t(3)]],
        ['after the first turn', { afterTurnId: t(1) }, [t(1)]],
        ['after the last turn', { afterTurnId: t(3) }, [t(1), t(2), t(3)]],
        ['before the last turn', { beforeTurnId: t(3) }, [t(1), t(2)]],
        ['before the first turn', { beforeTurnId: t(1) }, []],
      ];
      test.each(points)('%s has the turns up to there', async (_name, point, turnIds) => {
        await threadWithTurns(store, 1, [t(1), t(2), t(3)]);
        const record = threadRecord(2, { forkedFromId: idOf(1) });
        await store.forkThread(idOf(1), point, record);
        expect(await store.getThread(idOf(2))).toEqual(record);
        expect(await turnsInShort(store, idOf(2))).toEqual(turnIds.map(wholeTurn));
        expect(await textsForModel(store, idOf(2))).toEqual(
          turnIds.flatMap((id) => [`${id} question`, `${id} answer`]),
        );
      });

      test('and its source are independent ever after, also when it is forked again', async () => {
        const source = await threadWithTurns(store, 1, [t(1)]);
        const fork = await store.forkThread(idOf(1), null, threadRecord(2));
        await source.append(turnEntries(t(2)));
        await fork.append(turnEntries(t(3)));
        const again = await store.forkThread(idOf(2), null, threadRecord(3));
        const cut = await store.forkThread(idOf(3), { afterTurnId: t(1) }, threadRecord(4));
        await fork.append(turnEntries(t(4)));
        await again.append(turnEntries(t(5)));
        await cut.append(turnEntries(t(6)));
        expect(await turnsInShort(store, idOf(1))).toEqual([t(1), t(2)].map(wholeTurn));
        expect(await turnsInShort(store, idOf(2))).toEqual([t(1), t(3), t(4)].map(wholeTurn));
        expect(await turnsInShort(harness.open(), idOf(3))).toEqual(
          [t(1), t(3), t(5)].map(wholeTurn),
        );
        expect(await turnsInShort(harness.open(), idOf(4))).toEqual([t(1), t(6)].map(wholeTurn));
      });

      test('of a thread with a running turn ends that turn; the source continues', async () => {
        const source = await threadWithTurns(store, 1, [t(1)]);
        await source.append([turnStarted(t(2)), itemEntry(t(2), userMessage('u'))]);
        await source.append([], { partials: [storedItem(t(2), command('c', 'inProgress'))] });
        for (const point of [null, { afterTurnId: t(2) }]) {
          const number = point === null ? 2 : 3;
          await store.forkThread(idOf(1), point, threadRecord(number));
          expect(await turnsInShort(store, idOf(number))).toEqual([
            wholeTurn(t(1)),
            `${t(2)} interrupted: u, c`,
          ]);
          const [item] = (await store.listItems(idOf(number), { direction: 'desc', limit: 1 }))
            .data;
          expect(item?.item).toEqual(command('c', 'failed'));
        }
        await source.append([itemEntry(t(2), command('c', 'completed')), turnEnded(t(2))]);
        expect(await turnsInShort(store, idOf(1))).toEqual([
          wholeTurn(t(1)),
          `${t(2)} completed: u, c`,
        ]);
        expect(await turnsInShort(store, idOf(2))).toEqual([
          wholeTurn(t(1)),
          `${t(2)} interrupted: u, c`,
        ]);
      });

      test('before the turn in progress leaves nothing of it', async () => {
        const source = await threadWithTurns(store, 1, [t(1)]);
        await source.append([turnStarted(t(2)), itemEntry(t(2), userMessage('u'))]);
        await source.append([], { partials: [storedItem(t(2), agentMessage('a'))] });
        await store.forkThread(idOf(1), { beforeTurnId: t(2) }, threadRecord(2));
        expect(await turnsInShort(store, idOf(2))).toEqual([wholeTurn(t(1))]);
      });

      test('can be made of a thread that another process has', async () => {
        await threadWithTurns(store, 1, [t(1)]);
        const other = harness.open();
        const fork = await other.forkThread(idOf(1), null, threadRecord(2));
        await fork.append(turnEntries(t(2)));
        expect(await turnsInShort(store, idOf(2))).toEqual([t(1), t(2)].map(wholeTurn));
      });

      test('can be ephemeral, and a stored fork of an ephemeral thread is kept', async () => {
        await threadWithTurns(store, 1, [t(1), t(2)]);
        const passing = await store.forkThread(
          idOf(1),
          { afterTurnId: t(1) },
          threadRecord(2, { ephemeral: true, path: null }),
        );
        await passing.append([
          ...turnEntries(t(3)),
          turnStarted(t(4)),
          itemEntry(t(4), agentMessage('long', 'x'.repeat(20_000))),
        ]);
        await store.forkThread(idOf(2), null, threadRecord(3, { ephemeral: true, path: null }));
        await store.forkThread(idOf(3), null, threadRecord(4));
        const turns = [wholeTurn(t(1)), wholeTurn(t(3)), `${t(4)} interrupted: long`];
        expect(await turnsInShort(store, idOf(2))).toEqual([
          ...turns.slice(0, 2),
          `${t(4)} inProgress: long`,
        ]);
        expect(await turnsInShort(store, idOf(3))).toEqual(turns);
        const reader = harness.open();
        expect(await turnsInShort(reader, idOf(4))).toEqual(turns);
        const [item] = (await reader.listItems(idOf(4), { direction: 'desc', limit: 1 })).data;
        expect(item?.item).toEqual(agentMessage('long', 'x'.repeat(20_000)));
        expect(await reader.getThread(idOf(2))).toBeNull();
      });

      test('a cursor of the source is valid in the fork, in the part that both have', async () => {
        await threadWithTurns(store, 1, [t(1), t(2), t(3)]);
        const { nextCursor } = await store.listTurns(idOf(1), {
          direction: 'asc',
          limit: 1,
          view: 'notLoaded',
        });
        await store.forkThread(idOf(1), { afterTurnId: t(2) }, threadRecord(2));
        const rest = await store.listTurns(idOf(2), {
          direction: 'asc',
          cursor: nextCursor,
          view: 'notLoaded',
        });
        expect(rest.data.map((turn) => turn.id)).toEqual([t(2)]);

        const { backwardsCursor } = await store.listTurns(idOf(1), {
          direction: 'desc',
          limit: 1,
          view: 'notLoaded',
        });
        const beyond = store.listTurns(idOf(2), {
          direction: 'asc',
          cursor: backwardsCursor,
          view: 'notLoaded',
        });
        await expect(beyond).rejects.toMatchObject({ code: 'invalid_cursor' });
      });
    });
  });
}

/** Checks that pages of any size make the same list, forwards and, from any page, backwards. */
async function expectPages<T>(list: (query: PageQuery) => Promise<Page<T>>): Promise<void> {
  for (const direction of ['asc', 'desc'] as const) {
    const whole = await list({ direction });
    expect(whole).toMatchObject({
      data: whole.data,
      nextCursor: null,
      backwardsCursor: expect.any(String),
    });
    for (const limit of [1, 2, 3, whole.data.length, whole.data.length + 1]) {
      const data: T[] = [];
      let cursor: string | null = null;
      do {
        const page: Page<T> = await list({ direction, cursor, limit });
        data.push(...page.data);
        const back = await list({
          direction: direction === 'asc' ? 'desc' : 'asc',
          cursor: page.backwardsCursor,
        });
        expect(back.data).toEqual(data.slice(0, data.length - page.data.length + 1).reverse());
        expect(page.data).toHaveLength(
          Math.min(limit, whole.data.length - data.length + page.data.length),
        );
        cursor = page.nextCursor;
      } while (cursor !== null);
      expect(data).toEqual(whole.data);
    }
    expect((await list({ direction: direction === 'asc' ? 'desc' : 'asc' })).data).toEqual(
      whole.data.toReversed(),
    );
  }
}

/** The entries of all pages in a direction. */
async function allPages<T>(
  list: (query: PageQuery) => Promise<Page<T>>,
  direction: PageQuery['direction'],
): Promise<T[]> {
  const data: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<T> = await list({ direction, cursor });
    data.push(...page.data);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return data;
}

/** The store, whose pages of items have at most so many bytes. */
function slicedFinely(store: ThreadStore, bytesMax: number): ThreadStore {
  return Object.assign(Object.create(store) as ThreadStore, {
    listTurns: store.listTurns.bind(store),
    listItems: (threadId: string, query: ItemQuery) =>
      store.listItems(threadId, { ...query, bytesMax }),
  });
}
