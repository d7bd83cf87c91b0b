// @module-tag slow
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { StoreMaintenance } from '../../src/store/sqlite/maintenance/store-maintenance.ts';
import { markOf } from '../../src/store/sqlite/wal/wal-mark.ts';
import type { ThreadStore } from '../../src/store/thread-store.ts';
import { asFirstVersion } from './first-version.ts';
import {
  everyThread,
  idOf,
  threadRecord,
  threadWithTurns,
  turnEntries,
  turnsInShort,
  wholeTurn,
} from './samples.ts';
import { migrationsDir, type TempHome, tempHome } from './temp-home.ts';

const ENDS = ['', '-wal', '-shm'];

/** Copies the files of a database, those of a live one too, as a kill leaves them. */
function copyFiles(from: string, to: string, ends = ENDS): void {
  for (const end of ends) {
    rmSync(to + end, { force: true });
    if (existsSync(from + end)) copyFileSync(from + end, to + end);
  }
}

/** A home as a kill leaves that of `home`, and the database of `backup` laid over it by hand. */
function killedAndReplaced(home: TempHome, backup: string | null): TempHome {
  const after = tempHome();
  mkdirSync(after.home, { recursive: true });
  copyFiles(home.file, after.file);
  if (backup !== null) copyFileSync(backup, after.file);
  return after;
}

const stale = (home: TempHome) => readdirSync(home.home).filter((name) => name.includes('.stale-'));
const ids = async (store: ThreadStore) =>
  (await store.listThreads(everyThread)).data.map(({ id }) => id).reverse();
const isSound = (home: TempHome) =>
  home.sql((db) => db.pragma('integrity_check', { simple: true })) === 'ok';

function checkpoint(home: TempHome, mode: 'PASSIVE' | 'TRUNCATE' = 'PASSIVE'): void {
  home.sql((db) => db.pragma(`wal_checkpoint(${mode})`));
}

describe('a database that was laid by hand over another one, whose WAL a kill left,', () => {
  test.each([
    'a copy of an earlier state',
    'a copy of another database',
    'one that SQLite has copied',
  ])('%s: the WAL is set aside', async (what) => {
    const home = tempHome();
    const store = home.open();
    await threadWithTurns(store, 1, ['t1']);
    const backup = join(home.folder, 'backup');
    if (what === 'a copy of an earlier state') {
      checkpoint(home);
      copyFileSync(home.file, backup);
    } else if (what === 'one that SQLite has copied')
      home.sql((db) => db.exec(`VACUUM INTO '${backup}'`));
    else {
      const other = tempHome();
      await threadWithTurns(other.open(), 1, ['t1']);
      checkpoint(other);
      copyFileSync(other.file, backup);
    }
    checkpoint(home);
    for (const number of [2, 3, 4]) await threadWithTurns(store, number, ['t1', 't2']);
    checkpoint(home);
    await threadWithTurns(store, 5, ['t1']);
    const after = killedAndReplaced(home, backup);
    const next = after.open();
    expect(await ids(next)).toEqual([idOf(1)]);
    expect(after.warnings).toEqual([
      expect.stringContaining('the WAL of the former file was renamed'),
    ]);
    expect(stale(after)).toEqual([expect.stringMatching(/^heddle\.db\.stale-.*-wal$/)]);
    await threadWithTurns(next, 6, ['t1']);
    await next.close();
    expect(isSound(after)).toBe(true);
  });
});

test('a WAL that has nothing but the removal of deleted threads is set aside, too', async () => {
  const home = tempHome();
  const store = home.open();
  await threadWithTurns(store, 1, ['t1']);
  await threadWithTurns(store, 2, ['t1', 't2']);
  checkpoint(home, 'TRUNCATE');
  const backup = join(home.folder, 'backup');
  copyFileSync(home.file, backup);
  await store.deleteThread(idOf(2));
  checkpoint(home);
  home.clock.advance(1_050);
  const after = killedAndReplaced(home, backup);
  expect(statSync(`${after.file}-wal`).size).toBeGreaterThan(0);
  expect(await ids(after.open())).toEqual([1, 2].map(idOf));
  expect(stale(after)).toHaveLength(1);
});

describe('a file of an earlier version, which has the mark far from its front', () => {
  /** A home with a thread, whose file was of the first version and had much before the mark. */
  async function migratedHome(bytes = 3_000_000): Promise<{ home: TempHome; first: string }> {
    const home = tempHome();
    await threadWithTurns(home.open(), 1, ['t1']);
    await home.closeAll();
    asFirstVersion(home);
    const first = join(home.folder, 'first');
    copyFileSync(home.file, first);
    await threadWithTurns(home.open(), 2, ['t1']);
    await home.closeAll();
    const migration = readFileSync(join(migrationsDir, '0009_wal_mark.sql'), 'utf8');
    home.sql((db) =>
      db.exec(`CREATE TABLE filler AS SELECT zeroblob(${bytes});
        DROP TABLE wal_mark; CREATE TABLE in_its_page (x); ${migration}`),
    );
    const root = "SELECT rootpage FROM sqlite_schema WHERE name = 'wal_mark'";
    expect(home.sql((db) => Number(db.prepare(root).pluck().get()))).toBeGreaterThan(700);
    return { home, first };
  }

  test.each(['a copy of it', 'its first version', 'one that SQLite has copied'])(
    'the WAL is set aside if %s is laid over it',
    async (what) => {
      const { home, first } = await migratedHome();
      const backup = what === 'its first version' ? first : join(home.folder, 'backup');
      if (what === 'a copy of it') copyFileSync(home.file, backup);
      else if (backup !== first) home.sql((db) => db.exec(`VACUUM INTO '${backup}'`));
      const store = home.open();
      await threadWithTurns(store, 3, ['t1', 't2']);
      checkpoint(home);
      await threadWithTurns(store, 4, ['t1']);
      const after = killedAndReplaced(home, backup);
      expect(await ids(after.open())).toEqual((backup === first ? [1] : [1, 2]).map(idOf));
      expect(stale(after)).toHaveLength(1);
    },
  );

  test('the WAL is set aside if another migrated file is laid over it, which has its mark elsewhere', async () => {
    const [{ home }, other] = [await migratedHome(), await migratedHome(4_000_000)];
    const store = home.open();
    await threadWithTurns(store, 3, ['t1', 't2']);
    checkpoint(home);
    await threadWithTurns(store, 4, ['t1']);
    const after = killedAndReplaced(home, other.home.file);
    expect(await ids(after.open())).toEqual([1, 2].map(idOf));
    expect(stale(after)).toHaveLength(1);
    expect(isSound(after)).toBe(true);
  });

  test('its own WAL is replayed, also after it was compacted', async () => {
    const { home } = await migratedHome();
    const store = home.open();
    await threadWithTurns(store, 3, ['t1', 't2']);
    const before = killedAndReplaced(home, null);
    home.sql((db) => db.exec('VACUUM'));
    await threadWithTurns(store, 4, ['t1']);
    const after = killedAndReplaced(home, null);
    expect(await ids(before.open())).toEqual([1, 2, 3].map(idOf));
    expect(await ids(after.open())).toEqual([1, 2, 3, 4].map(idOf));
    expect([before, after].flatMap(stale)).toEqual([]);
  });
});

describe('maintenance of a database that was laid by hand over another one', () => {
  function maintenanceOf(home: TempHome): StoreMaintenance {
    const { log } = home.options();
    return new StoreMaintenance({
      file: home.file,
      migrationsDir,
      nodeVersions: process.versions,
      log,
      onProgress: () => {},
    });
  }

  test.each(['check', 'vacuum', 'repair', 'backUp'] as const)(
    '%s: the WAL is set aside, and the copy stays as it was',
    async (what) => {
      const home = tempHome();
      const store = home.open();
      await threadWithTurns(store, 1, ['t1']);
      checkpoint(home, 'TRUNCATE');
      const backup = join(home.folder, 'backup');
      copyFileSync(home.file, backup);
      await threadWithTurns(store, 2, ['t1', 't2']);
      checkpoint(home);
      await store.deleteThread(idOf(1));
      const after = killedAndReplaced(home, backup);
      const maintenance = maintenanceOf(after);
      if (what === 'check') expect(await maintenance.check()).toEqual([]);
      else if (what === 'vacuum') await maintenance.vacuum();
      else if (what === 'repair') expect(await maintenance.repair()).toBeNull();
      else
        expect(await maintenance.backUp(join(after.folder, 'second'))).toMatchObject({
          threads: 1,
        });
      expect(after.warnings).toHaveLength(1);
      expect(stale(after)).toHaveLength(1);
      expect(await ids(after.open())).toEqual([idOf(1)]);
    },
  );

  test('vacuum of a damaged database says so', async () => {
    const home = tempHome();
    await threadWithTurns(home.open(), 1, ['t1']);
    await home.closeAll();
    home.sql((db) => db.exec("UPDATE entry SET payload = '{'"));
    const message = expect.stringMatching(
      /^the database is damaged, so it was not compacted: run 'heddle store repair' \(/,
    );
    await expect(maintenanceOf(home).vacuum()).rejects.toMatchObject({
      code: 'store_damaged',
      message,
    });
  });
});

const STEPS = {
  write: (world: World) => world.write(world.store),
  checkpoint: ({ home }: World) => checkpoint(home),
  truncate: ({ home }: World) => checkpoint(home, 'TRUNCATE'),
  vacuum: ({ home }: World) => home.sql((db) => db.exec('VACUUM')),
  second: (world: World) => world.write(world.home.open()),
  async reopen(world: World) {
    await world.store.close();
    world.store = world.home.open();
  },
  kill(world: World) {
    world.home = killedAndReplaced(world.home, null);
    world.store = world.home.open();
  },
};

/** A home to which threads are written, one for each number. */
class World {
  home = tempHome();
  store = this.home.open();
  written = 0;

  async take(step: keyof typeof STEPS): Promise<void> {
    await STEPS[step](this);
  }

  async write(store: ThreadStore): Promise<void> {
    this.written += 1;
    await (await store.createThread(threadRecord(this.written))).close();
  }
}

describe('a WAL that belongs to its database is replayed', () => {
  test('whatever was written, moved into the database, opened again and killed before', {
    timeout: 120_000,
  }, async () => {
    const step = fc.constantFrom(
      'write',
      'write',
      ...(Object.keys(STEPS) as (keyof typeof STEPS)[]),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
        const world = new World();
        await world.take('write');
        for (const one of steps) await world.take(one);
        const after = killedAndReplaced(world.home, null);
        expect(await ids(after.open())).toEqual(
          Array.from({ length: world.written }, (_, index) => idOf(index + 1)),
        );
        expect(stale(after)).toEqual([]);
      }),
      { numRuns: 30, seed: 7 },
    );
  });

  test('also where a checkpoint was cut off in the middle', async () => {
    const home = tempHome();
    const store = home.open();
    await threadWithTurns(store, 1, ['t1', 't2', 't3']);
    checkpoint(home);
    for (let number = 2; number < 12; number++) await threadWithTurns(store, number, ['t1', 't2']);
    const before = killedAndReplaced(home, null);
    checkpoint(home);
    const [old, whole] = [readFileSync(before.file), readFileSync(home.file)];
    for (let page = 1; page < whole.length / 4096; page += 3) {
      const after = killedAndReplaced(before, null);
      const half = join(home.folder, 'half');
      const bytes = Buffer.concat([whole.subarray(0, page * 4096), old.subarray(page * 4096)]);
      writeFileSync(half, bytes);
      copyFileSync(half, after.file);
      expect(await ids(after.open())).toHaveLength(11);
      expect(stale(after)).toEqual([]);
    }
  });
});

test('a database that is copied over while it is open takes no more writes', async () => {
  const home = tempHome();
  const store = home.open();
  const writer = await threadWithTurns(store, 1, ['t1']);
  checkpoint(home);
  const backup = join(home.folder, 'backup');
  copyFileSync(home.file, backup);
  await writer.append(turnEntries('t2'));
  checkpoint(home);
  await writer.append(turnEntries('t3'));
  copyFileSync(backup, home.file);
  const refused = {
    code: 'store_failed',
    message: expect.stringContaining(
      'was overwritten with another database while heddle had it open',
    ),
  };
  await expect(writer.append(turnEntries('t4'))).rejects.toMatchObject(refused);
  await expect(store.createThread(threadRecord(2))).rejects.toMatchObject(refused);
});

test('the mark is found in the bytes of every database', async () => {
  const home = tempHome();
  const store = home.open();
  await threadWithTurns(store, 1, ['t1']);
  expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn('t1')]);
  await store.close();
  for (const extra of [0, 50, 400]) {
    home.sql((db) => {
      for (let index = 0; index < extra; index++) db.exec(`CREATE TABLE aaa_${extra}_${index} (x)`);
      db.exec('VACUUM');
      db.pragma('wal_checkpoint(TRUNCATE)');
    });
    const bytes = readFileSync(home.file);
    const size = Number(home.sql((db) => db.pragma('page_size', { simple: true })));
    const page = (number: number) =>
      number * size <= bytes.length ? bytes.subarray((number - 1) * size, number * size) : null;
    const token = home.sql((db) => db.prepare('SELECT hex(token) FROM wal_mark').pluck().get());
    expect(markOf(page)).toMatchObject({ token: String(token).toLowerCase() });
  }
});
