import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { UntimedItem } from '../../src/protocol/generated/types.ts';
import type { LogEntry } from '../../src/store/log-entry.ts';
import type { ThreadStore, ThreadWriter } from '../../src/store/thread-store.ts';
import {
  agentMessage,
  command,
  idOf,
  itemEntry,
  settings,
  shownItem,
  storedItem,
  threadRecord,
  turnEnded,
  turnStarted,
  turnsWithItems,
} from './samples.ts';
import type { StoreHarness } from './thread-store.contract.ts';

const RUNNING = command('c', 'inProgress');
const ENDED = { ...command('c', 'completed'), aggregatedOutput: 'all of it' } as UntimedItem;
const SHOWN = shownItem(ENDED, 30);
const LATE: LogEntry = {
  kind: 'lateItem',
  turnId: 't1',
  item: ENDED,
  startedAtMs: 11,
  completedAtMs: 30,
};

/** The contract of every thread store for items that run on after their turn. */
export function describeLateItems(name: string, makeHarness: () => Promise<StoreHarness>): void {
  describe(`${name}: items that run on after their turn`, () => {
    let harness: StoreHarness;
    let store: ThreadStore;
    let writer: ThreadWriter;

    beforeEach(async () => {
      harness = await makeHarness();
      store = harness.open();
      writer = await store.createThread(threadRecord(1));
      await writer.append([turnStarted('t1')]);
      await writer.append([], { partials: [storedItem('t1', RUNNING)] });
      await writer.append([
        { ...itemEntry('t1', RUNNING), running: true } as LogEntry,
        turnEnded('t1'),
      ]);
    });
    afterEach(() => harness.dispose());

    const items = async (threadId = idOf(1), from = store) => {
      const { data } = await turnsWithItems(from, threadId);
      return data.map(({ items: shown }) => shown);
    };

    test('are shown in their turn as they were last saved, in turns and in items, while their writer lives', async () => {
      const grown = { ...RUNNING, aggregatedOutput: 'some' } as UntimedItem;
      await writer.append([], { partials: [storedItem('t1', grown)] });
      expect(await items()).toEqual([[shownItem(grown, null)]]);
      expect((await store.listItems(idOf(1), { direction: 'asc' })).data).toEqual([
        storedItem('t1', grown),
      ]);
      expect(await items(idOf(1), harness.open())).toEqual([[shownItem(grown, null)]]);
    });

    test('are shown once, in their own turn and in their last state, when they complete in a later turn', async () => {
      await writer.append([
        turnStarted('t2'),
        itemEntry('t2', agentMessage('a')),
        LATE,
        turnEnded('t2'),
      ]);
      expect(await items()).toEqual([[SHOWN], [shownItem(agentMessage('a'))]]);
      const { data } = await store.listItems(idOf(1), { direction: 'desc' });
      expect(data).toEqual([
        { turnId: 't2', item: agentMessage('a'), startedAtMs: 11, completedAtMs: 12 },
        { turnId: 't1', item: ENDED, startedAtMs: 11, completedAtMs: 30 },
      ]);
      expect(
        (await store.readItems(idOf(1), { turnId: 't1', itemIds: ['c'] })).items,
      ).toMatchObject([{ item: ENDED }]);
      expect((await store.readItems(idOf(1), { turnId: 't2', itemIds: ['c'] })).items).toEqual([]);
    });

    test('run on after the end of a later turn', async () => {
      await writer.append([turnStarted('t2'), turnEnded('t2')]);
      expect(await items()).toEqual([[shownItem(RUNNING, null)], []]);
    });

    test('have failed, as they were last saved, once their writer is gone, also after another one is opened', async () => {
      await writer.append([], {
        partials: [storedItem('t1', { ...RUNNING, aggregatedOutput: 'some' } as UntimedItem)],
      });
      await writer.close();
      const failed = {
        ...shownItem(command('c', 'failed'), harness.clock.now()),
        aggregatedOutput: 'some',
      };
      expect(await items()).toEqual([[failed]]);
      const next = await harness.open().openWriter(idOf(1));
      await next.append([turnStarted('t2'), turnEnded('t2')]);
      expect(await items()).toEqual([[failed], []]);
    });

    test('have failed in a fork from before their end, and have ended in a fork from after it', async () => {
      await store.forkThread(idOf(1), null, threadRecord(2));
      await writer.append([LATE, turnStarted('t2'), turnEnded('t2')]);
      await store.forkThread(idOf(1), { beforeTurnId: 't2' }, threadRecord(3));
      expect([await items(idOf(2)), await items(idOf(3))]).toEqual([
        [[shownItem(command('c', 'failed'))]],
        [[SHOWN]],
      ]);
    });

    test.each([false, true])(
      'have ended in a fork, and after a revert, that cut off the turn they ended in (ephemeral: %s)',
      async (ephemeral) => {
        await writer.append([turnStarted('t2'), LATE, turnEnded('t2')]);
        await store.forkThread(idOf(1), { beforeTurnId: 't2' }, threadRecord(2, { ephemeral }));
        await store.revertThread(idOf(1), 't2', { settings });
        expect([await items(), await items(idOf(2))]).toEqual([[[SHOWN]], [[SHOWN]]]);
      },
    );
  });
}
