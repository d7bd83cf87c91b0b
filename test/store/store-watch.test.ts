import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createSqliteStore } from '../../src/store/sqlite/create-sqlite-store.ts';
import type { ThreadStore } from '../../src/store/thread-store.ts';
import { threadWithTurns, turnEntries } from './samples.ts';
import { migrationsDir, type TempHome, tempHome } from './temp-home.ts';

/**
 * A store as a program has it that opens the files of the home itself, and the errors in its log.
 */
function storeIn({ file, folder, clock }: TempHome): { store: ThreadStore; errors: string[] } {
  const errors: string[] = [];
  const log = {
    debug() {},
    info() {},
    warn() {},
    error: (_fields: unknown, text?: string) => void errors.push(text ?? ''),
  };
  const store = createSqliteStore({
    file,
    migrationsDir,
    tempDir: folder,
    clock,
    log,
    pid: process.pid,
  });
  onTestFinished(() => store.close());
  return { store, errors };
}

const lost = {
  code: 'store_failed',
  message: expect.stringMatching(
    /^this process has lost its locks on .*heddle\.db, because something in it opened and closed the file/,
  ),
};

test.each(['heddle.db', 'heddle.db-shm'])(
  'a program that opens and closes %s itself drops the locks: nothing more is stored, and the log says so once',
  async (name) => {
    const home = tempHome();
    const { store, errors } = storeIn(home);
    const writer = await threadWithTurns(store, 1, ['t1']);
    closeSync(openSync(join(home.home, name), 'r'));
    home.clock.advance(1_000);
    await expect(writer.append(turnEntries('t2'))).rejects.toMatchObject(lost);
    await expect(writer.append(turnEntries('t2'))).rejects.toMatchObject(lost);
    expect(errors).toEqual(['nothing more is stored']);
  },
);

test('a store that keeps its locks is not stopped, whatever others lock meanwhile', async () => {
  const home = tempHome();
  const { store, errors } = storeIn(home);
  const writer = await threadWithTurns(store, 1, ['t1']);
  const others = [1, 2, 3].map(() => storeIn(tempHome()).store);
  for (let turn = 2; turn < 22; turn++) {
    home.clock.advance(1_000);
    for (const other of others)
      await other.listThreads({ archived: false, limit: 1 } as never).catch(() => {});
    await writer.append(turnEntries(`t${turn}`));
  }
  expect(errors).toEqual([]);
});
