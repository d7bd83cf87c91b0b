import { expect, test } from 'vitest';
import { Outbox } from '../../src/agent/outbox/outbox.ts';
import { StepSequence } from '../../src/agent/outbox/step.ts';
import type { Announcement } from '../../src/protocol/announcement.ts';
import type { LogEntry, StoredItem } from '../../src/store/log-entry.ts';
import { StoreError } from '../../src/store/store-error.ts';
import type { WriteChanges } from '../../src/store/thread-store.ts';
import { Gate } from '../support/gate.ts';

const FULL = new StoreError('store_full', 'the disk is full', { file: 'heddle.db' });

/** An entry of this name. */
function entry(name: string, text = ''): LogEntry {
  return {
    kind: 'model',
    turnId: name,
    item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
  };
}

function nameOf(entry: LogEntry): string {
  return entry.turnId ?? '';
}

/** An entry that completes this item. */
function completed(id: string): LogEntry {
  return {
    kind: 'item',
    turnId: id,
    ...timesOf(1),
    item: { type: 'agentMessage', id, text: 'whole' },
  };
}

function partial(id: string, text: string): StoredItem {
  return {
    turnId: 't',
    item: { type: 'agentMessage', id, text },
    startedAtMs: 0,
    completedAtMs: null,
  };
}

function timesOf(ms: number) {
  return { startedAtMs: ms, completedAtMs: ms };
}

function warningOf(message: string): Announcement {
  return { method: 'warning', params: { threadId: null, message } };
}

/** A step that stores an entry and makes an announcement, both of this name. */
function step(name: string) {
  return { entries: [entry(name)], announce: [warningOf(name)] };
}

/** One write of the store, in short. */
interface Write {
  entries: string[];
  partials: string[];
  dropped: readonly string[];
  durable: boolean;
}

/**
 * An outbox with a store that waits or fails as `beforeWrite` does. Announcements and appended
 * entries are kept by their names.
 */
function withStore(beforeWrite: (write: Write, count: number) => Promise<void> | void = () => {}) {
  const writes: Write[] = [];
  const patches: WriteChanges['patch'][] = [];
  const announced: string[] = [];
  const appended: string[] = [];
  const outbox = new Outbox({
    writer: {
      threadId: 't',
      append: async (entries, { partials = [], dropped = [], durable = false, patch } = {}) => {
        const texts = partials.map(({ item }) =>
          'text' in item ? `${item.id}: ${item.text}` : item.id,
        );
        const write = { entries: entries.map(nameOf), partials: texts, dropped, durable };
        writes.push(write);
        patches.push(patch);
        await beforeWrite(write, writes.length);
      },
      close: async () => {},
    },
    announce: ({ params }) => announced.push('message' in params ? params.message : ''),
    onAppended: (entries) => appended.push(...entries.map(nameOf)),
  });
  return {
    outbox,
    writes,
    patches,
    announced,
    appended,
    stored: () => writes.map(({ entries }) => entries.join(' ')),
  };
}

function full(): never {
  throw FULL;
}

/** How a promise ended: `done`, or the message of its error. */
function endOf(promise: Promise<void>): Promise<string> {
  return promise.then(
    () => 'done',
    ({ message }: Error) => message,
  );
}

test('steps of one moment, and those that come while the store is busy, are one write each; all is announced in order', async () => {
  const gate = new Gate();
  const { outbox, writes, patches, announced, appended } = withStore((_write, count) =>
    count === 1 ? gate.pass() : undefined,
  );
  const first = [
    outbox.commit({ ...step('a'), patch: { name: 'x' } }),
    outbox.commit({ ...step('b'), durable: true, patch: { name: 'y' } }),
  ];
  await gate.reached;
  const second = [
    outbox.commit(step('c')),
    outbox.announce([warningOf('d')]),
    outbox.commit({ announce: [warningOf('e')] }),
    outbox.commit(step('f')),
  ];
  expect(announced).toEqual([]);
  gate.open();
  await Promise.all([...first, ...second]);
  expect(writes).toMatchObject([
    { entries: ['a', 'b'], durable: true },
    { entries: ['c'], durable: false },
    { entries: ['f'] },
  ]);
  expect(patches[0]).toEqual({ name: 'y' });
  expect(announced).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  expect(appended).toEqual(['a', 'b', 'c', 'f']);
});

test('the last step of a group is stored at once, with those that wait, and a later one by itself', async () => {
  const { outbox, stored } = withStore();
  const steps = [outbox.commit(step('a'))];
  // The first step waits for others of its group by then.
  for (let time = 0; time < 10; time++) await Promise.resolve();
  steps.push(outbox.commit({ ...step('b'), isLast: true }), outbox.commit(step('c')));
  await Promise.all(steps.slice(0, 2));
  expect(stored()).toEqual(['a b c']);
  steps.push(outbox.commit({ ...step('d'), isLast: true }));
  for (let time = 0; time < 10; time++) await Promise.resolve();
  expect(stored()).toEqual(['a b c', 'd']);
  await Promise.all(steps);
});

test('a step that stores nothing is announced without a write', async () => {
  const { outbox, writes, announced } = withStore();
  await outbox.commit({ announce: [warningOf('a')] });
  expect([writes, announced]).toEqual([[], ['a']]);
});

test('at most 64 steps are one write, and a long one is one by itself', async () => {
  const { outbox, writes } = withStore();
  const steps = Array.from({ length: 70 }, (_, index) =>
    outbox.commit({ entries: [entry(String(index))] }),
  );
  const long = outbox.commit({ entries: [entry('long', 'x'.repeat(300_000))] });
  await Promise.all([...steps, long, outbox.commit(step('short'))]);
  expect(writes.map(({ entries }) => entries.length)).toEqual([64, 6, 1, 1]);
  expect(writes[2]?.entries).toEqual(['long']);
});

test('a delta comes at once if no announcement of its sequence waits, and else behind it, also while that is stored', async () => {
  const gate = new Gate();
  const { outbox, announced } = withStore(() => gate.pass());
  const sequence = new StepSequence();
  outbox.announceDelta(warningOf('at once'), sequence);
  const other = outbox.commit(step('other'));
  outbox.announceDelta(warningOf('at once, too'), sequence);
  const begun = outbox.commit(step('begun'), sequence);
  outbox.announceDelta(warningOf('d1'), sequence);
  await gate.reached;
  outbox.announceDelta(warningOf('d2'), sequence);
  const ended = outbox.commit(step('ended'), sequence);
  expect(announced).toEqual(['at once', 'at once, too']);
  gate.open();
  await Promise.all([other, begun, ended]);
  expect(announced.slice(2)).toEqual(['other', 'begun', 'd1', 'd2', 'ended']);
});

test('after a write of several steps has failed, each is stored by itself, in order, with those that come meanwhile behind them', async () => {
  const { outbox, stored, announced } = withStore((_write, count) =>
    count === 1 ? full() : undefined,
  );
  const steps = ['a', 'b', 'c'].map((name) => outbox.commit(step(name)));
  await Promise.all([...steps, steps[0]?.then(() => outbox.commit(step('d')))]);
  expect(stored()).toEqual(['a b c', 'a', 'b', 'c', 'd']);
  expect(announced).toEqual(['a', 'b', 'c', 'd']);
});

test('a step that fails by itself rejects, and the others of its moment are stored', async () => {
  const { outbox, announced, appended } = withStore(({ entries }) =>
    entries.includes('b') ? full() : undefined,
  );
  const ends = ['a', 'b', 'c'].map((name) => endOf(outbox.commit(step(name))));
  expect(await Promise.all(ends)).toEqual(['done', FULL.message, 'done']);
  expect(announced).toEqual(['a', 'c']);
  expect(appended).toEqual(['a', 'c']);
});

test('steps of a sequence that has failed fail with its error, and announce and store nothing; other steps go on', async () => {
  const { outbox, stored, announced } = withStore(({ entries }) =>
    entries.includes('a') ? full() : undefined,
  );
  const sequence = new StepSequence();
  const a = outbox.commit(step('a'), sequence);
  outbox.announceDelta(warningOf('delta of a'), sequence);
  const other = outbox.commit(step('other'));
  outbox.announceDelta(warningOf('delta behind the other'), sequence);
  const b = outbox.commit(step('b'), sequence);
  expect(await Promise.all([a, other, b].map(endOf))).toEqual([FULL.message, 'done', FULL.message]);
  expect(await endOf(outbox.stored(sequence))).toBe(FULL.message);
  expect(await endOf(outbox.commit({ announce: [warningOf('c')] }, sequence))).toBe(FULL.message);
  outbox.announceDelta(warningOf('late delta'), sequence);
  expect(announced).toEqual(['other']);
  expect(stored()).toEqual(['a other b', 'a', 'other']);
});

test('a delta is not lost with a step of others that fails', async () => {
  const { outbox, announced } = withStore(({ entries }) =>
    entries.includes('other') ? full() : undefined,
  );
  const sequence = new StepSequence();
  const begun = outbox.commit(step('begun'), sequence);
  const other = outbox.commit(step('other'));
  outbox.announceDelta(warningOf('delta'), sequence);
  expect(await Promise.all([begun, other].map(endOf))).toEqual(['done', FULL.message]);
  expect(announced).toEqual(['begun', 'delta']);
  await outbox.stored(sequence);
});

test('an unfinished item is saved once with its last content, and not at all if it completes or is dropped in the same write', async () => {
  const gate = new Gate();
  const { outbox, writes } = withStore((_write, count) => (count === 1 ? gate.pass() : undefined));
  outbox.savePartial(partial('p', 'a'));
  await gate.reached;
  for (const text of ['ab', 'abc']) outbox.savePartial(partial('p', text));
  outbox.savePartial(partial('q', 'a'));
  outbox.savePartial(partial('r', 'a'));
  const steps = [
    outbox.commit({ entries: [completed('q')] }),
    outbox.commit({ dropped: [partial('r', 'a')] }),
  ];
  gate.open();
  await Promise.all(steps);
  expect(writes).toMatchObject([
    { partials: ['p: a'] },
    { entries: ['q'], partials: ['p: abc'], dropped: ['r'] },
  ]);
});

test('an item that was dropped and continues is saved after the drop', async () => {
  const { outbox, writes } = withStore();
  outbox.savePartial(partial('p', 'a'));
  void outbox.commit({ dropped: [partial('p', 'a')] });
  outbox.savePartial(partial('p', 'ab'));
  await outbox.settle();
  expect(writes).toMatchObject([{ partials: ['p: ab'], dropped: [] }]);
});

test('a save that fails is not reported, and does not fail the steps behind it', async () => {
  const { outbox, announced } = withStore(({ partials }) =>
    partials.length > 0 ? full() : undefined,
  );
  outbox.savePartial(partial('p', 'a'));
  await outbox.commit(step('a'));
  expect(announced).toEqual(['a']);
});

test('an end that cannot be stored is announced at once, and its entries and patch are stored before the next step', async () => {
  let isFull = true;
  const { outbox, stored, patches, announced } = withStore(() => (isFull ? full() : undefined));
  await outbox.commitOrAnnounce({ ...step('end'), patch: { name: 'x' } });
  expect([announced, outbox.owed.map(nameOf)]).toEqual([['end'], ['end']]);
  expect(await endOf(outbox.commit(step('refused')))).toBe(FULL.message);
  await outbox.settle();
  expect(outbox.owed.map(nameOf)).toEqual(['end']);
  isFull = false;
  await outbox.commit({ announce: [warningOf('next')] });
  expect([stored().at(-1), patches.at(-1)]).toEqual(['end', { name: 'x' }]);
  expect([announced, outbox.owed]).toEqual([['end', 'next'], []]);
});

test('what is owed is announced when it is stored, before the step that it is stored with', async () => {
  let isFull = true;
  const { outbox, stored, announced } = withStore(() => (isFull ? full() : undefined));
  await outbox.commitOrOwe(step('completed'));
  expect([announced, outbox.owed.map(nameOf)]).toEqual([[], ['completed']]);
  isFull = false;
  await outbox.settle();
  expect([stored().at(-1), announced]).toEqual(['completed', ['completed']]);
});

test('an error that is not the store’s is not owed', async () => {
  const { outbox } = withStore(() => {
    throw new TypeError('a mistake');
  });
  expect(await endOf(outbox.commitOrOwe(step('a')))).toBe('a mistake');
  expect(outbox.owed).toEqual([]);
});

test('work between two steps runs when those before it are stored, and those behind it wait for it', async () => {
  const { outbox, stored, announced } = withStore();
  const work = new Gate();
  const before = outbox.commit(step('a'));
  const between = outbox.between(async () => {
    await work.pass();
    return stored();
  });
  const behind = outbox.commit(step('b'));
  await work.reached;
  await before;
  expect([stored(), announced]).toEqual([['a'], ['a']]);
  work.open();
  expect(await between).toEqual(['a']);
  await behind;
  await expect(outbox.between(full)).rejects.toThrow(FULL.message);
  await outbox.commit(step('c'));
  expect(stored()).toEqual(['a', 'b', 'c']);
});

test('whoever makes a step with long entries is told to wait until it is stored', async () => {
  const gate = new Gate();
  const { outbox, stored } = withStore(() => gate.pass());
  void outbox.commit({ entries: [entry('short', 'x'.repeat(200_000))] });
  expect(outbox.caughtUp()).toBeNull();
  void outbox.commit({ entries: [entry('long', 'x'.repeat(300_000))] });
  await gate.reached;
  const caughtUp = outbox.caughtUp();
  expect(caughtUp).not.toBeNull();
  gate.open();
  await caughtUp;
  expect(stored()).toEqual(['short', 'long']);
  expect(outbox.caughtUp()).toBeNull();
});

test('whoever makes many steps or deltas is told to wait until they are done', async () => {
  const gate = new Gate();
  const { outbox, announced } = withStore(() => gate.pass());
  const sequence = new StepSequence();
  void outbox.commit(step('begun'), sequence);
  for (let delta = 0; delta < 62; delta++) outbox.announceDelta(warningOf('d'), sequence);
  expect(outbox.caughtUp()).toBeNull();
  outbox.announceDelta(warningOf('d'), sequence);
  const caughtUp = outbox.caughtUp();
  expect(caughtUp).not.toBeNull();
  gate.open();
  await caughtUp;
  expect(announced.length).toBe(64);
  expect(outbox.caughtUp()).toBeNull();
});
