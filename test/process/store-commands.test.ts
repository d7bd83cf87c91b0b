// @module-tag slow
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { neverCollect } from '../../src/store/sqlite/connect/load-sqlite.ts';
import { EXECUTABLE, environment, type Place, place, startHeddle } from './support.ts';

const KILLER = join(import.meta.dirname, 'kill-at-call.cjs');
const STEPS_MAX = 60;

function store(
  where: Place,
  args: string[],
  { killAt }: { killAt?: number } = {},
): SpawnSyncReturns<string> {
  const kill =
    killAt === undefined
      ? {}
      : { HEDDLE_KILL_AT: String(killAt), HEDDLE_PLACE: dirname(where.home) };
  const preload = killAt === undefined ? [] : ['-r', KILLER];
  return spawnSync(process.execPath, [...preload, EXECUTABLE, 'store', ...args], {
    cwd: where.work,
    env: { ...environment(where), ...kill },
    encoding: 'utf8',
  });
}

function resultOf({ stdout }: SpawnSyncReturns<string>): Record<string, unknown> {
  expect(stdout.trim().split('\n')).toHaveLength(1);
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** A home with so many threads, whose server has ended. */
async function homeWith(threads: number): Promise<Place> {
  const where = place();
  await addThreads(where, threads);
  return where;
}

async function addThreads(where: Place, threads: number): Promise<void> {
  const heddle = await startHeddle(where);
  for (let number = 0; number < threads; number++) await heddle.request('thread/start', {});
  await heddle.finish();
}

function threadsIn(file: string): number {
  const db = neverCollect(new Database(file, { fileMustExist: true }));
  try {
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    return Number(db.prepare('SELECT count(*) FROM thread').pluck().get());
  } finally {
    db.close();
  }
}

const db = (where: Place) => join(where.home, 'heddle.db');
const backup = (where: Place) => join(where.work, 'copy.db');
const setAside = (where: Place) =>
  readdirSync(where.home).filter((name) => /^heddle\.db\.(damaged|replaced)-/.test(name));

/** Damages all pages but those of the schema. */
function damage(file: string): void {
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xa5, bytes.length - 5 * 4096));
}

describe('heddle store', () => {
  test('backup writes a complete single file beside a running server; restore waits until it has ended, and keeps the old one', async () => {
    const where = await homeWith(2);
    const heddle = await startHeddle(where);
    await heddle.request('thread/start', {});
    const made = store(where, ['backup', backup(where), '--json']);
    expect(resultOf(made)).toEqual({
      ok: true,
      file: backup(where),
      bytes: statSync(backup(where)).size,
      threads: 3,
    });
    expect([made.status, made.stderr]).toEqual([0, '']);
    expect(readdirSync(where.work)).toEqual(['copy.db']);
    expect(statSync(backup(where)).mode & 0o777).toBe(0o600);

    for (const action of [['restore', backup(where)], ['repair'], ['vacuum']]) {
      const refused = store(where, [...action, '--json']);
      expect(refused.status).toBe(1);
      expect(resultOf(refused)).toEqual({
        ok: false,
        error: {
          code: 'store_failed',
          message: `${db(where)} is in use by heddle (pid ${heddle.pid}): end it and try again`,
          pids: [heddle.pid],
        },
      });
    }
    await heddle.request('thread/start', {});
    await heddle.finish();

    const restored = store(where, ['restore', backup(where)]);
    expect([restored.status, restored.stdout]).toEqual([
      0,
      expect.stringMatching(/is restored\. Threads: 3\. The old database is kept as /),
    ]);
    expect(threadsIn(db(where))).toBe(3);
    expect(setAside(where)).toEqual([
      expect.stringMatching(/^heddle\.db\.replaced-2\d{3}-[\dTZ-]+$/),
    ]);
    expect(threadsIn(join(where.home, setAside(where)[0] ?? ''))).toBe(4);
    const again = await startHeddle(where);
    expect((await again.request('thread/list', {})).data).toHaveLength(0);
  });

  test('restore does not let the WAL of a killed server into the restored database', async () => {
    const where = await homeWith(1);
    store(where, ['backup', backup(where)]);
    const heddle = await startHeddle(where);
    await heddle.request('thread/start', {});
    await heddle.kill();
    expect(statSync(`${db(where)}-wal`).size).toBeGreaterThan(0);
    expect(store(where, ['restore', backup(where)]).status).toBe(0);
    expect(threadsIn(db(where))).toBe(1);
    expect(
      threadsIn(join(where.home, setAside(where).find((name) => name.endsWith('Z')) ?? '')),
    ).toBe(2);
  });

  test('check tells what is wrong, repair keeps what can be read, and both leave a sound database alone', async () => {
    const where = await homeWith(3);
    expect(resultOf(store(where, ['check', '--json']))).toEqual({ ok: true, findings: [] });
    expect(resultOf(store(where, ['repair', '--json']))).toEqual({ ok: true, repaired: false });
    damage(db(where));
    const checked = store(where, ['check']);
    expect([checked.status, checked.stdout]).toEqual([
      1,
      expect.stringContaining(`${db(where)} is damaged: run 'heddle store repair'`),
    ]);
    const refused = store(where, ['backup', backup(where)]);
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/damaged.*run 'heddle store repair'/),
    ]);
    expect(readdirSync(where.work)).toEqual([]);
    const repaired = store(where, ['repair', '--json']);
    expect([repaired.status, resultOf(repaired)]).toMatchObject([
      0,
      { ok: true, repaired: true, setAside: expect.stringMatching(/damaged-/) },
    ]);
    expect(store(where, ['check']).status).toBe(0);
    await addThreads(where, 1);
  });

  test('vacuum makes the file smaller', async () => {
    const where = await homeWith(1);
    const file = neverCollect(new Database(db(where)));
    file.exec(
      'CREATE TABLE big (text); INSERT INTO big VALUES (zeroblob(3000000)); DROP TABLE big; VACUUM; PRAGMA auto_vacuum',
    );
    file.exec(
      'CREATE TABLE big (text); INSERT INTO big VALUES (zeroblob(3000000)); DROP TABLE big',
    );
    file.close();
    const result = resultOf(store(where, ['vacuum', '--json'])) as {
      bytesBefore: number;
      bytesAfter: number;
    };
    expect(result.bytesBefore - result.bytesAfter).toBeGreaterThan(2_900_000);
    expect(statSync(db(where)).size).toBe(result.bytesAfter);
    expect(threadsIn(db(where))).toBe(1);
  });

  test('wrong uses have the exit code 2 and failures 1, and neither changes anything', async () => {
    const where = await homeWith(1);
    for (const args of [
      [],
      ['burn'],
      ['backup'],
      ['restore', ''],
      ['check', 'x'],
      ['backup', 'a', 'b'],
      ['check', '--yes'],
    ])
      expect([args, store(where, args).status]).toEqual([args, 2]);
    writeFileSync(backup(where), 'not a database');
    const texts: [string[], string][] = [
      [['backup', backup(where)], `${backup(where)} exists: name a new file for the backup`],
      [['restore', backup(where)], `${backup(where)} is damaged, so it was not restored`],
      [['restore', join(where.work, 'none')], `${join(where.work, 'none')} is not a file`],
      [['restore', db(where)], `${db(where)} is the database itself`],
      [['backup', join(where.work, 'none', 'a')], `${join(where.work, 'none')} does not exist`],
    ];
    for (const [args, text] of texts)
      expect([args, store(where, args)]).toMatchObject([
        args,
        { status: 1, stderr: expect.stringContaining(text) },
      ]);
    truncateSync(backup(where), 0);
    expect(store(where, ['restore', backup(where)])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is empty'),
    });
    expect([threadsIn(db(where)), setAside(where)]).toEqual([1, []]);
    const empty = place();
    expect(store(empty, ['check'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('there is no store yet'),
    });
  });
});

describe('a kill at any step leaves the old state or the new one', () => {
  /**
   * Runs a command with a kill at its first step, then at its second, and so on until it ends by
   * itself.
   */
  function killed(where: Place, args: string[], check: () => void): number {
    for (let killAt = 1; killAt <= STEPS_MAX; killAt++) {
      const { signal, status } = store(where, args, { killAt });
      if (signal === null) {
        expect(status).toBe(0);
        return killAt - 1;
      }
      check();
    }
    throw new Error('the command has too many steps');
  }

  test('of a backup', async () => {
    const where = await homeWith(2);
    const steps = killed(where, ['backup', backup(where)], () => {
      if (existsSync(backup(where))) expect(threadsIn(backup(where))).toBe(2);
      rmSync(backup(where), { force: true });
    });
    expect(steps).toBeGreaterThan(5);
    expect([threadsIn(backup(where)), threadsIn(db(where))]).toEqual([2, 2]);
  }, 120_000);

  test('of a restore', async () => {
    const where = await homeWith(2);
    store(where, ['backup', backup(where)]);
    const heddle = await startHeddle(where);
    await heddle.request('thread/start', {});
    await heddle.kill();
    const [old, wal] = [join(where.temp, 'old.db'), join(where.temp, 'old.db-wal')];
    copyFileSync(db(where), old);
    copyFileSync(`${db(where)}-wal`, wal);
    let restored = 0;
    const steps = killed(where, ['restore', backup(where)], () => {
      // Any command that opens the database finishes what the dead one began.
      expect(resultOf(store(where, ['check', '--json']))).toEqual({ ok: true, findings: [] });
      const threads = threadsIn(db(where));
      expect([2, 3]).toContain(threads);
      if (threads === 3) return;
      restored++;
      const whole = setAside(where).filter((name) => name.endsWith('Z'));
      expect(whole).toHaveLength(1);
      expect(threadsIn(join(where.home, whole[0] ?? ''))).toBe(3);
      for (const name of readdirSync(where.home))
        if (name.startsWith('heddle.db')) rmSync(join(where.home, name));
      copyFileSync(old, db(where));
      copyFileSync(wal, `${db(where)}-wal`);
    });
    expect([steps > 10, restored > 2]).toEqual([true, true]);
    expect(threadsIn(db(where))).toBe(2);
  }, 240_000);

  test('of a repair', async () => {
    const where = await homeWith(2);
    damage(db(where));
    const broken = readFileSync(db(where));
    const steps = killed(where, ['repair'], () => {
      const { status } = store(where, ['check']);
      const [aside] = setAside(where).map((name) => join(where.home, name));
      expect([status, readFileSync(aside ?? db(where)).equals(broken)]).toEqual([
        aside === undefined ? 1 : 0,
        true,
      ]);
      if (aside === undefined) return;
      for (const name of readdirSync(where.home))
        if (name.startsWith('heddle.db')) rmSync(join(where.home, name));
      writeFileSync(db(where), broken);
    });
    expect(steps).toBeGreaterThan(8);
  }, 240_000);
});
