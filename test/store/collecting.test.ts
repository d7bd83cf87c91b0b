import Database from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { neverCollect } from '../../src/store/sqlite/connect/load-sqlite.ts';
import { deleteStoredThread } from '../../src/store/sqlite/threads/delete-stored-thread.ts';
import { StoreError } from '../../src/store/store-error.ts';
import type { ThreadStore, ThreadWriter } from '../../src/store/thread-store.ts';
import { runs } from '../support/runs.ts';
import {
  agentMessage,
  idOf,
  itemEntry,
  textsForModel,
  threadRecord,
  threadWithTurns,
  turnEnded,
  turnEntries,
  turnStarted,
  turnsInShort,
  turnsWithItems,
  wholeTurn,
} from './samples.ts';
import { TempHome, tempHome } from './temp-home.ts';

/** A time in which everything is collected. */
const LONG_MS = 600_000;

const longText = (number: number) => `${number}`.repeat(10_000);

/** A turn with an item whose text is stored apart, once for all turns that have it. */
function longTurn(turnId: string, number: number) {
  return [
    turnStarted(turnId),
    itemEntry(turnId, agentMessage(`${turnId} long`, longText(number))),
    turnEnded(turnId),
  ];
}

/** The data in the database that no thread needs. */
function leftovers(home: TempHome): Record<string, unknown[]> {
  return home.sql((db) => {
    const list = (sql: string) => db.prepare(sql).pluck().all();
    const needed =
      'SELECT log_id FROM shared_segment UNION SELECT log_id FROM history UNION SELECT log_id FROM held_log';
    return {
      logs: list(`SELECT id FROM log WHERE id NOT IN (${needed})`),
      entries: list(`SELECT DISTINCT log_id FROM entry WHERE log_id NOT IN (${needed})`),
      uses: list(`SELECT DISTINCT log_id FROM blob_use WHERE log_id NOT IN (${needed})`),
      blobs: list('SELECT length(content) FROM blob WHERE hash NOT IN (SELECT hash FROM blob_use)'),
      discarded: list('SELECT log_id FROM discarded_log'),
      partials: list('SELECT item_id FROM partial WHERE thread_id NOT IN (SELECT id FROM thread)'),
      leases: list('SELECT thread_id FROM lease WHERE thread_id NOT IN (SELECT id FROM thread)'),
      segments: list(
        `SELECT log_id FROM history WHERE thread_id NOT IN (SELECT id FROM thread) UNION SELECT log_id FROM shared_segment
         WHERE id NOT IN (SELECT before_id FROM shared_segment UNION SELECT before_id FROM history)`,
      ),
    };
  });
}

const NOTHING = {
  logs: [],
  entries: [],
  uses: [],
  blobs: [],
  discarded: [],
  partials: [],
  leases: [],
  segments: [],
};

/** A store, and its connection to the database once it is open. */
function openSpied(home: TempHome): { store: ThreadStore; db: () => Database.Database } {
  const connections: Database.Database[] = [];
  const store = home.open((file, options) => {
    const connection = neverCollect(new Database(file, options));
    if (file.endsWith('heddle.db')) connections.push(connection);
    return connection;
  });
  const db = () => {
    const connection = connections.at(-1);
    if (connection === undefined) throw new Error('the database is not open');
    return connection;
  };
  return { store, db };
}

test('a thread with a long history is deleted at once; its data is collected in parts, while no write happens', async () => {
  const home = tempHome();
  const store = home.open();
  const turnIds = Array.from({ length: 600 }, (_, index) => `t${index}`);
  const writer = await threadWithTurns(store, 1, turnIds);
  for (let number = 0; number < 10; number++)
    await writer.append(longTurn(`long ${number}`, number));
  const other = await threadWithTurns(store, 2, ['t1']);
  await other.append(longTurn('shared', 3));
  home.clock.advance(LONG_MS);

  await store.deleteThread(idOf(1));
  expect([home.count('entry'), home.count('blob')], 'nothing is collected yet').toEqual([
    600 * 7 + 30 + 10,
    10,
  ]);
  const counts = [];
  for (let part = 0; part < 3; part++) {
    home.clock.advance(part === 0 ? 1_000 : 50);
    counts.push(home.count('entry'));
  }
  expect(counts).toEqual([3240, 2240, 1240]);
  home.clock.advance(20);
  await other.append(turnEntries('t2'));
  home.clock.advance(30);
  expect(home.count('entry'), 'whoever wrote comes first').toBe(1247);
  home.clock.advance(LONG_MS);
  expect(leftovers(home)).toEqual(NOTHING);
  expect([home.count('entry'), home.count('blob')]).toEqual([17, 1]);
  expect(await turnsInShort(store, idOf(2))).toEqual([
    wholeTurn('t1'),
    'shared completed: shared long',
    wholeTurn('t2'),
  ]);
});

test('a log is kept as long as any history has it', async () => {
  const home = tempHome();
  const store = home.open();
  const entries = () => {
    home.clock.advance(LONG_MS);
    return home.count('entry');
  };
  await threadWithTurns(store, 1, ['t1', 't2']);
  await store.forkThread(idOf(1), { afterTurnId: 't1' }, threadRecord(2));
  await store.deleteThread(idOf(1));
  expect(entries()).toBe(14);
  await store.revertThread(idOf(2), 't1', {});
  expect(entries()).toBe(0);
  expect(leftovers(home)).toEqual(NOTHING);
});

test('data that a process has not collected at its end is collected by the next one, once it writes', async () => {
  const home = tempHome();
  const first = home.open();
  await threadWithTurns(first, 1, ['t1']);
  await first.deleteThread(idOf(1));
  await first.close();
  const second = home.open();
  await second.getThread(idOf(1));
  expect(home.clock.timers, 'a process that only reads leaves the file alone').toEqual([]);
  await second.createThread(threadRecord(2));
  home.clock.advance(LONG_MS);
  expect(leftovers(home)).toEqual(NOTHING);
  expect(home.clock.timers).toEqual([]);
});

test('collecting stops when the store closes', async () => {
  const home = tempHome();
  const store = home.open();
  await threadWithTurns(store, 1, ['t1']);
  await store.deleteThread(idOf(1));
  await store.close();
  expect(home.clock.timers).toEqual([]);
  expect(home.count('entry')).toBe(7);
});

test('if nothing can be written, collecting stops with one warning, and is tried again after the next deletion', async () => {
  const home = tempHome();
  const { store, db } = openSpied(home);
  await threadWithTurns(store, 1, ['t1']);
  await threadWithTurns(store, 2, ['t1']);
  await store.deleteThread(idOf(1));
  db().exec(
    "CREATE TEMP TRIGGER full BEFORE DELETE ON main.entry BEGIN SELECT RAISE(ABORT, 'full'); END",
  );
  home.clock.advance(LONG_MS);
  expect(home.warnings).toEqual([
    'the data of deleted threads could not be removed; it stays in the database for now',
  ]);
  expect(home.count('entry')).toBe(14);
  db().exec('DROP TRIGGER full');
  await store.deleteThread(idOf(2));
  home.clock.advance(LONG_MS);
  expect(leftovers(home)).toEqual(NOTHING);
});

test('a deletion that cannot be written changes nothing, and can be repeated', async () => {
  const home = tempHome();
  const { store, db } = openSpied(home);
  const writer = await threadWithTurns(store, 1, ['t1']);
  db().exec(
    "CREATE TEMP TRIGGER full BEFORE DELETE ON main.thread BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END",
  );
  await expect(store.deleteThread(idOf(1))).rejects.toBeInstanceOf(StoreError);
  await writer.append(turnEntries('t2'));
  expect(await turnsInShort(store, idOf(1))).toEqual(['t1', 't2'].map(wholeTurn));
  db().exec('DROP TRIGGER full');
  await store.deleteThread(idOf(1));
  home.clock.advance(LONG_MS);
  expect(leftovers(home)).toEqual(NOTHING);
});

test('on a full disk a thread can be deleted, and its space is used again', async () => {
  const home = tempHome();
  const { store, db } = openSpied(home);
  const writer = await threadWithTurns(store, 1, ['t1']);
  await threadWithTurns(
    store,
    2,
    Array.from({ length: 100 }, (_, index) => `t${index}`),
  );
  db().pragma(`max_page_count = ${db().pragma('page_count', { simple: true })}`);
  await expect(writer.append(longTurn('t2', 2))).rejects.toMatchObject({ code: 'store_full' });
  await store.deleteThread(idOf(2));
  home.clock.advance(LONG_MS);
  expect(leftovers(home)).toEqual(NOTHING);
  await writer.append(longTurn('t2', 2));
  expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn('t1'), 't2 completed: t2 long']);
});

describe('an ephemeral fork', () => {
  test('keeps every process from collecting the logs of the file that it needs, until it ends', async () => {
    const home = tempHome();
    const [mine, other] = [home.open(), home.open()];
    await (await threadWithTurns(mine, 1, ['t1', 't2'])).close();
    await mine.forkThread(idOf(1), null, threadRecord(2, { ephemeral: true, path: null }));
    await mine.forkThread(
      idOf(1),
      { afterTurnId: 't1' },
      threadRecord(3, { ephemeral: true, path: null }),
    );
    await other.deleteThread(idOf(1));
    home.clock.advance(LONG_MS);
    expect(await turnsInShort(mine, idOf(2))).toEqual(['t1', 't2'].map(wholeTurn));
    await mine.deleteThread(idOf(2));
    home.clock.advance(LONG_MS);
    expect(await turnsInShort(mine, idOf(3))).toEqual([wholeTurn('t1')]);
    await mine.close();
    await other.createThread(threadRecord(4));
    home.clock.advance(LONG_MS);
    expect(leftovers(home)).toEqual(NOTHING);
    expect(home.count('entry')).toBe(0);
  });

  test('gets a copy of the logs if the file cannot record that it holds them', async () => {
    const home = tempHome();
    const { store, db } = openSpied(home);
    await threadWithTurns(store, 1, ['t1', 't2']);
    db().pragma('query_only = ON');
    const fork = await store.forkThread(
      idOf(1),
      { afterTurnId: 't1' },
      threadRecord(2, { ephemeral: true, path: null }),
    );
    db().pragma('query_only = OFF');
    await fork.append(turnEntries('t3'));
    await store.deleteThread(idOf(1));
    home.clock.advance(LONG_MS);
    expect(home.count('entry')).toBe(0);
    expect(await turnsInShort(store, idOf(2))).toEqual(['t1', 't3'].map(wholeTurn));
  });
});

test('a fork has all of its source or fails, if another process deletes and collects the source at that moment', async () => {
  const home = tempHome();
  await (await threadWithTurns(home.open(), 1, ['t1'])).close();
  // The connection of a store, because it deletes at once, within the statement of another.
  const other = home.connect();
  let armed = false;
  const store = home.open((file, options) => {
    const onStatement = (sql: unknown) => {
      if (!armed || !String(sql).startsWith('BEGIN IMMEDIATE')) return;
      armed = false;
      deleteStoredThread(other, idOf(1));
      home.clock.advance(LONG_MS);
    };
    return neverCollect(new Database(file, { ...options, verbose: onStatement }));
  });
  await store.getThread(idOf(1));
  armed = true;
  await expect(store.forkThread(idOf(1), null, threadRecord(2))).rejects.toMatchObject({
    code: 'thread_not_found',
  });
  expect(armed).toBe(false);
  expect(await store.getThread(idOf(2))).toBeNull();
  expect(leftovers(home)).toEqual(NOTHING);
});

/**
 * The expected state of a store: the turns of each thread, and which of two processes has its
 * writer.
 */
interface ModelThread {
  number: number;
  turns: string[];
  ephemeral: boolean;
  owner: number;
  writer: ThreadWriter | null;
}

const operation = fc.record({
  kind: fc.constantFrom(
    'create',
    'append',
    'append',
    'append',
    'append',
    'fork',
    'fork',
    'revert',
    'delete',
    'release',
    'take',
    'collect',
  ),
  process: fc.nat(1),
  thread: fc.nat(),
  turn: fc.nat(),
  ephemeral: fc.boolean(),
});
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** Runs operations on two stores of one home and on a model of them. */
class Run {
  readonly home = new TempHome();
  readonly stores = [this.home.open(), this.home.open()] as const;
  readonly threads: ModelThread[] = [];
  #lastNumber = 0;
  #lastTurn = 0;

  async apply({
    kind,
    process,
    thread: pick,
    turn: pickTurn,
    ephemeral,
  }: Operation): Promise<void> {
    if (kind === 'create') return this.#create(process, ephemeral);
    if (kind === 'collect') return this.home.clock.advance(100 * (pickTurn % 20));
    const thread = this.threads[pick % Math.max(1, this.threads.length)];
    if (thread === undefined) return;
    // The other process cannot see an ephemeral thread.
    const by = thread.ephemeral ? thread.owner : process;
    const store = this.#store(by);
    switch (kind) {
      case 'append':
        return this.#append(thread);
      case 'fork':
        return this.#fork(thread, { by, ephemeral, cut: pickTurn % (thread.turns.length + 1) });
      case 'release':
        await thread.writer?.close();
        thread.writer = null;
        return;
      case 'take':
        if (thread.writer !== null) return;
        thread.writer = await store.openWriter(idOf(thread.number));
        thread.owner = by;
        return;
      case 'delete':
        if (!(await this.#allowed(thread, by, () => store.deleteThread(idOf(thread.number)))))
          return;
        this.threads.splice(this.threads.indexOf(thread), 1);
        return;
      case 'revert': {
        const cut = pickTurn % Math.max(1, thread.turns.length);
        const turnId = thread.turns[cut];
        if (turnId === undefined) return;
        if (
          await this.#allowed(thread, by, () => store.revertThread(idOf(thread.number), turnId, {}))
        )
          thread.turns.splice(cut);
        return;
      }
      default:
        kind satisfies never;
    }
  }

  /** Checks that every thread has the expected turns, in each process that can see it. */
  async check(): Promise<void> {
    for (const { number, turns, ephemeral, owner } of this.threads) {
      for (const store of ephemeral ? [this.#store(owner)] : this.stores) {
        const { data } = await turnsWithItems(store, idOf(number));
        expect(data.map(({ id }) => id)).toEqual(turns);
        expect(
          data.map(({ items }) =>
            items.map((item) => (item.type === 'agentMessage' ? item.text : '')),
          ),
        ).toEqual(turns.map((turnId) => [textOf(turnId)]));
        expect(await textsForModel(store, idOf(number))).toEqual(turns);
      }
    }
  }

  async #create(owner: number, ephemeral: boolean): Promise<void> {
    const number = ++this.#lastNumber;
    const writer = await this.#store(owner).createThread(
      threadRecord(number, { ephemeral, path: null }),
    );
    this.threads.push({ number, turns: [], ephemeral, owner, writer });
  }

  async #append(thread: ModelThread): Promise<void> {
    if (thread.writer === null) return;
    const turnId = `turn ${++this.#lastTurn}`;
    const item = itemEntry(turnId, agentMessage(`${turnId} item`, textOf(turnId)));
    const content = [{ type: 'input_text' as const, text: turnId }];
    await thread.writer.append([
      turnStarted(turnId),
      item,
      { kind: 'model', turnId, item: { type: 'message', role: 'user', content } },
      turnEnded(turnId),
    ]);
    thread.turns.push(turnId);
  }

  async #fork(
    source: ModelThread,
    { by, ephemeral, cut }: { by: number; ephemeral: boolean; cut: number },
  ): Promise<void> {
    const number = ++this.#lastNumber;
    const before = source.turns[cut];
    const point = before === undefined ? null : { beforeTurnId: before };
    const record = threadRecord(number, { ephemeral, path: null });
    const writer = await this.#store(by).forkThread(idOf(source.number), point, record);
    this.threads.push({ number, turns: source.turns.slice(0, cut), ephemeral, owner: by, writer });
  }

  /** Whether a process could do it. It must be able to unless the other one has the writer. */
  async #allowed(
    { owner, writer }: ModelThread,
    by: number,
    change: () => Promise<unknown>,
  ): Promise<boolean> {
    if (writer === null || owner === by) {
      await change();
      return true;
    }
    await expect(change()).rejects.toMatchObject({ code: 'active_writer' });
    return false;
  }

  #store(index: number): ThreadStore {
    const store = this.stores[index];
    if (store === undefined) throw new Error(`no store ${index}`);
    return store;
  }
}

/** Every second text is long, and shared by many turns. */
function textOf(turnId: string): string {
  const number = Number(turnId.split(' ')[1]);
  return number % 2 === 0 ? longText(number % 4) : turnId;
}

test('two processes fork, revert, delete and collect: every thread keeps its data, and no other data is kept', {
  tags: 'seeded',
}, async () => {
  const property = fc.asyncProperty(
    fc.array(operation, { minLength: 1, maxLength: 60, size: 'max' }),
    async (operations) => {
      const run = new Run();
      try {
        for (const each of operations) await run.apply(each);
        await run.check();
        for (const store of run.stores)
          await store.createThread(
            threadRecord(1_000_000 + run.stores.indexOf(store), { path: null }),
          );
        run.home.clock.advance(LONG_MS);
        await run.check();
        // The data that one process releases at its end is found by the next one.
        for (const store of run.stores) await store.close();
        await run.home.open().createThread(threadRecord(2_000_000, { path: null }));
        run.home.clock.advance(LONG_MS);
        expect(leftovers(run.home)).toEqual(NOTHING);
      } finally {
        await run.home.dispose();
      }
    },
  );
  await fc.assert(property, { numRuns: runs(30), interruptAfterTimeLimit: 30_000 });
});
