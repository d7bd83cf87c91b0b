import { chmodSync, chownSync, copyFileSync, cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { neverCollect } from '../../src/store/sqlite/connect/load-sqlite.ts';
import { createSqliteStore } from '../../src/store/sqlite/create-sqlite-store.ts';
import type { ThreadStore } from '../../src/store/thread-store.ts';
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

const NOBODY = 65_534;
const ignore = () => {};
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

const isRoot = process.geteuid?.() === 0;

/**
 * Takes away this process's permission to write the files and the folder of the home. Root may
 * write everything, so it becomes another user.
 */
function protect(home: TempHome, folderMode: number): void {
  for (const name of readdirSync(home.home))
    chmodSync(join(home.home, name), name === 'heddle-writers' ? 0o555 : 0o444);
  chmodSync(home.home, folderMode);
  if (isRoot) {
    chownSync(home.home, NOBODY, NOBODY);
    process.seteuid?.(NOBODY);
  }
}

function unprotect(home: TempHome): void {
  if (isRoot) process.seteuid?.(0);
  chmodSync(home.home, 0o755);
  for (const name of readdirSync(home.home))
    chmodSync(join(home.home, name), name === 'heddle-writers' ? 0o755 : 0o644);
}

/** Protects the home, and opens a store on it with a folder for copies. */
function openReadOnly(home: TempHome, folderMode = 0o555): { store: ThreadStore; copies: string } {
  const copies = join(home.folder, 'copies');
  const migrations = join(home.folder, 'migrations');
  mkdirSync(copies);
  cpSync(migrationsDir, migrations, { recursive: true });
  chmodSync(home.folder, 0o755);
  if (isRoot) chownSync(copies, NOBODY, NOBODY);
  protect(home, folderMode);
  onTestFinished(() => unprotect(home));
  const store = createSqliteStore({
    file: home.file,
    migrationsDir: migrations,
    tempDir: copies,
    clock: home.clock,
    log,
    pid: 43,
  });
  onTestFinished(() => store.close());
  return { store, copies };
}

async function expectReadable(store: ThreadStore): Promise<void> {
  expect((await store.listThreads(everyThread)).data).toEqual([threadRecord(1)]);
  expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn('t1'), wholeTurn('t2')]);
}

async function expectUnwritable(store: ThreadStore, file: string): Promise<void> {
  const refused = {
    code: 'store_read_only',
    message: expect.stringMatching(new RegExp(`^${file} cannot be written: make`)),
  };
  await expect(store.createThread(threadRecord(2))).rejects.toMatchObject(refused);
  await expect(store.updateThread(idOf(1), { name: 'x' })).rejects.toMatchObject(refused);
  await expect(store.openWriter(idOf(1))).rejects.toMatchObject(refused);
  await expect(store.forkThread(idOf(1), null, threadRecord(2))).rejects.toMatchObject(refused);
  await expect(store.archiveThread(idOf(1), 1)).rejects.toMatchObject(refused);
  await expect(store.unarchiveThread(idOf(1), 1)).rejects.toMatchObject(refused);
  await expect(store.revertThread(idOf(1), 't1', {})).rejects.toMatchObject(refused);
  await expect(store.deleteThread(idOf(1))).rejects.toMatchObject(refused);
}

test('lists and reads the threads of a closed store, refuses to write, and leaves no copy behind', async () => {
  const home = tempHome();
  const writer = home.open();
  await (await threadWithTurns(writer, 1, ['t1'])).append(turnEntries('t2'));
  await writer.close();
  const { store, copies } = openReadOnly(home);
  await expectUnwritable(store, home.file);
  await expectReadable(store);
  expect(readdirSync(home.home).sort()).toEqual(['heddle-writers', 'heddle.db']);
  expect(readdirSync(copies), 'nor would a kill -9').toEqual([]);
  await store.close();
  expect(readdirSync(copies)).toEqual([]);
});

test('reads a read-only database in a writable folder', async () => {
  const home = tempHome();
  const writer = home.open();
  await (await threadWithTurns(writer, 1, ['t1'])).append(turnEntries('t2'));
  await writer.close();
  const { store, copies } = openReadOnly(home, 0o755);
  await expectUnwritable(store, home.file);
  await expectReadable(store);
  expect(readdirSync(home.home).sort()).toEqual(['heddle-writers', 'heddle.db']);
  expect(readdirSync(copies)).toEqual([]);
  await store.close();
});

test.each([
  ['with its folder', 0o555],
  ['in a folder that always was', 0o755],
])(
  'writes as soon as the database is made writable, %s, and keeps its ephemeral threads',
  async (_name, folderMode) => {
    const home = tempHome();
    const owner = home.open();
    await threadWithTurns(owner, 1, ['t1']);
    await owner.close();
    const { store } = openReadOnly(home, folderMode);
    const fleeting = await store.createThread(threadRecord(2, { ephemeral: true, path: null }));
    await expectUnwritable(store, home.file);

    unprotect(home);
    const writer = await store.openWriter(idOf(1));
    await writer.append(turnEntries('t2'));
    await store.createThread(threadRecord(3));
    await fleeting.append(turnEntries('t1'));
    expect(await turnsInShort(home.open(), idOf(1))).toEqual([wholeTurn('t1'), wholeTurn('t2')]);
    expect(await turnsInShort(store, idOf(2))).toEqual([wholeTurn('t1')]);
  },
);

test("sees the owner's later writes at the next call", async () => {
  const home = tempHome();
  mkdirSync(home.home);
  const { store, copies } = openReadOnly(home);
  const fleeting = await store.createThread(threadRecord(9, { ephemeral: true, path: null }));
  expect(await store.getThread(idOf(1))).toBeNull();
  for (const turnId of ['t1', 't2']) {
    unprotect(home);
    const owner = home.open();
    const writer =
      turnId === 't1' ? await owner.createThread(threadRecord(1)) : await owner.openWriter(idOf(1));
    await writer.append(turnEntries(turnId));
    await owner.close();
    protect(home, 0o555);
    await expect(store.updateThread(idOf(1), { name: 'x' })).rejects.toMatchObject({
      code: 'store_read_only',
    });
    expect(await turnsInShort(store, idOf(1))).toEqual(
      turnId === 't1' ? [wholeTurn('t1')] : [wholeTurn('t1'), wholeTurn('t2')],
    );
  }
  await fleeting.append(turnEntries('t1'));
  expect(await turnsInShort(store, idOf(9))).toEqual([wholeTurn('t1')]);
  expect(readdirSync(copies)).toEqual([]);
});

test('sees later additions to the WAL', async () => {
  const living = tempHome();
  const writer = await threadWithTurns(living.open(), 1, ['t1']);
  const home = tempHome();
  mkdirSync(home.home);
  const copyLiving = () => {
    for (const end of ['', '-wal']) copyFileSync(living.file + end, home.file + end);
  };
  copyLiving();
  const { store } = openReadOnly(home);
  expect(await turnsInShort(store, idOf(1))).toEqual([wholeTurn('t1')]);
  unprotect(home);
  await writer.append(turnEntries('t2'));
  copyLiving();
  protect(home, 0o555);
  await expectReadable(store);
});

test('is no longer read-only once the database can be opened again', async () => {
  const home = tempHome();
  const owner = home.open();
  await (await threadWithTurns(owner, 1, ['t1'])).append(turnEntries('t2'));
  await owner.close();
  let refusals = 1;
  const store = home.open((file, options) => {
    if (file === home.file && refusals-- > 0)
      throw Object.assign(new Error('unable to open'), { code: 'SQLITE_CANTOPEN' });
    return neverCollect(new Database(file, options));
  });
  await expectReadable(store);
  expect(refusals).toBe(0);
  await store.createThread(threadRecord(2));
  expect(await home.open().getThread(idOf(2))).toEqual(threadRecord(2));
});

test('reads the WAL of a killed process', async () => {
  const living = tempHome();
  await (await threadWithTurns(living.open(), 1, ['t1'])).append(turnEntries('t2'));
  const home = tempHome();
  mkdirSync(home.home);
  for (const end of ['', '-wal']) copyFileSync(living.file + end, home.file + end);
  const { store } = openReadOnly(home);
  await expectReadable(store);
  await expectUnwritable(store, home.file);
  await store.close();
});

test('can fork into memory, where threads can be written', async () => {
  const home = tempHome();
  const writer = home.open();
  await threadWithTurns(writer, 1, ['t1']);
  await writer.close();
  const { store } = openReadOnly(home);
  const fork = await store.forkThread(
    idOf(1),
    null,
    threadRecord(2, { ephemeral: true, path: null }),
  );
  await fork.append(turnEntries('t2'));
  expect(await turnsInShort(store, idOf(2))).toEqual([wholeTurn('t1'), wholeTurn('t2')]);
  await store.close();
});

test('has no threads if there is no database, and refuses to write', async () => {
  const home = tempHome();
  mkdirSync(home.home);
  const { store } = openReadOnly(home);
  expect((await store.listThreads(everyThread)).data).toEqual([]);
  await expect(store.createThread(threadRecord(1))).rejects.toMatchObject({
    code: 'store_read_only',
  });
  await store.createThread(threadRecord(2, { ephemeral: true, path: null }));
  await store.close();
});
