import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { processTag } from '../../../src/base/files/process-tag.ts';
import { withLockFile } from '../../../src/base/files/with-lock-file.ts';
import { tempFolder } from '../../config/temp-folder.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const lockIn = () => join(tempFolder(), 'x.lock');

test('tasks run one at a time; the lock ends with the task, also with one that fails', async () => {
  const [path, clock, ran] = [lockIn(), new FakeClock(), [] as string[]];
  let end = (): void => {};
  let first: Promise<void> = Promise.resolve();
  await new Promise<void>((begun) => {
    first = withLockFile(path, clock, () => {
      begun();
      return new Promise<void>((resolve) => (end = resolve));
    });
  });
  const second = withLockFile(path, clock, async () => {
    ran.push('second');
    throw new Error('it failed');
  });
  await clock.timerOf(50);
  expect([ran, existsSync(path)]).toEqual([[], true]);
  end();
  await first;
  clock.advance(50);
  await expect(second).rejects.toThrow('it failed');
  expect([ran, existsSync(path)]).toEqual([['second'], false]);
});

test('a lock that a killed process has left is taken over', async () => {
  const path = lockIn();
  // This process has another start time.
  writeFileSync(path, `${processTag()}1 left`);
  expect(
    await withLockFile(path, new FakeClock(), async () => readFileSync(path, 'utf8')),
  ).not.toContain('left');
});

test('a lock of a process that cannot be seen is taken over when it is old', async () => {
  const [path, clock] = [lockIn(), new FakeClock()];
  writeFileSync(path, 'a process of another container');
  const done = withLockFile(path, clock, async () => 'done');
  await clock.timerOf(50);
  const old = new Date(Date.now() - 3 * 60 * 1000);
  utimesSync(path, old, old);
  clock.advance(50);
  expect(await done).toBe('done');
});

test('an empty lock, which a killed process has left, is taken over after a second', async () => {
  const [path, clock] = [lockIn(), new FakeClock()];
  writeFileSync(path, '');
  const done = withLockFile(path, clock, async () => readdirSync(dirname(path)));
  await clock.timerOf(50);
  const before = new Date(Date.now() - 2_000);
  utimesSync(path, before, before);
  clock.advance(50);
  expect(await done).toEqual(['x.lock']);
});

test('a lock that another process has taken over meanwhile is left to it', async () => {
  const path = lockIn();
  await withLockFile(path, new FakeClock(), async () => writeFileSync(path, 'theirs'));
  expect(readFileSync(path, 'utf8')).toBe('theirs');
});

test('a folder that cannot be written is an error', async () => {
  await expect(
    withLockFile(join(tempFolder(), 'missing', 'x.lock'), new FakeClock(), async () => 'done'),
  ).rejects.toThrow('ENOENT');
});
