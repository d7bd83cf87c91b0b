// @module-tag slow
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type HeddleProcess, place, startHeddle } from './support.ts';

const UUID = '0f0e0d0c-1111-4222-8333-444455556666';
const LIST = /^\.heddle-(.*)\.drafts$/;

/** The tag of a server that has written a file. */
function tagOf(home: string): string {
  const [, tag] =
    readdirSync(home)
      .map((name) => LIST.exec(name) ?? [])
      .find(([name]) => name !== undefined) ?? [];
  return tag ?? '';
}

async function writeSomething(heddle: HeddleProcess): Promise<void> {
  const { thread } = await heddle.request('thread/start', {});
  await heddle.turn(thread.id, 'say written');
}

const write = (path: string) => writeFileSync(path, 'half');

test('what a killed server has left is removed by the next one, and nothing else', async () => {
  const where = place();
  const { home, work, temp } = where;
  const first = await startHeddle(where);
  await writeSomething(first);
  await first.request('fs/writeFile', { path: join(work, 'file'), dataBase64: 'eA==' });
  const tag = tagOf(home);
  await first.kill();
  const litter = [
    join(work, `.heddle-${tag}-${UUID}.tmp`),
    join(home, `.heddle-${tag}-${UUID}.tmp`),
    ...['', '-wal', '-shm'].map((end) => join(home, `heddle.db.${tag}-${UUID}.new${end}`)),
    join(home, 'heddle-writers', `${UUID}.lock`),
    join(temp, `heddle-read-only-${tag}-abcdef`, 'heddle.db'),
    join(temp, `heddle-deterministic-${tag}-abcdef`, 'heddle.db'),
  ];
  for (const folder of litter.slice(-2)) mkdirSync(join(folder, '..'));
  for (const path of litter) write(path);
  write(join(home, 'heddle-writers', `${UUID}.lock`));
  writeFileSync(join(home, 'heddle-writers', `${UUID}.lock`), '');

  const living = await startHeddle(where);
  await living.request('fs/writeFile', { path: join(work, 'file'), dataBase64: 'eA==' });
  const alive = readdirSync(home)
    .map((name) => LIST.exec(name)?.[1])
    .find((one) => one !== undefined && one !== tag);
  const otherBoot = `ffffffff${tag.slice(8)}`;
  const kept = [
    join(work, `.heddle-${alive}-${UUID}.tmp`),
    join(work, `.heddle-${otherBoot}-${UUID}.tmp`),
    join(work, '.heddle-mine.tmp'),
    join(work, `.heddle-${UUID}.tmp`),
    join(home, `heddle.db.${alive}-${UUID}.new`),
    join(home, 'heddle.db.backup.new'),
    join(temp, 'heddle-read-only-abcdef'),
  ];
  for (const path of kept) write(path);

  await writeSomething(living);
  await vi.waitFor(() => expect(litter.filter(existsSync)).toEqual([]), { timeout: 10_000 });
  await vi.waitFor(() => expect(tagOf(home)).toBe(alive), { timeout: 10_000 });
  expect(kept.filter((path) => !existsSync(path))).toEqual([]);
  expect(readdirSync(join(home, 'heddle-writers')).filter((name) => name !== 'gate')).toHaveLength(
    1,
  );
  await living.finish();
  expect(readdirSync(home).filter((name) => LIST.test(name))).toEqual([]);
});

test('the lock file of a server that lives stays, and so do its threads', async () => {
  const where = place();
  const first = await startHeddle(where);
  await writeSomething(first);
  const [lock = ''] = readdirSync(join(where.home, 'heddle-writers'));
  const second = await startHeddle(where);
  writeFileSync(join(where.home, 'heddle-writers', `${UUID}.lock`), '');
  await writeSomething(second);
  await vi.waitFor(
    () => expect(readdirSync(join(where.home, 'heddle-writers'))).not.toContain(`${UUID}.lock`),
    { timeout: 10_000 },
  );
  expect(readdirSync(join(where.home, 'heddle-writers'))).toContain(lock);
  await writeSomething(first);
  expect(readFileSync('/proc/locks', 'latin1')).toContain(` ${first.pid} `);
});
