import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { copyDatabase } from '../../src/store/sqlite/database/copy-database.ts';
import { tempHome } from './temp-home.ts';

const afterCopy = vi.hoisted(() => ({ call: (_from: string) => {} }));

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const copyFileSync = (from: string, to: string) => {
    fs.copyFileSync(from, to);
    afterCopy.call(from);
  };
  return { ...fs, copyFileSync };
});

/** A database and its WAL, which are only text here, and a folder for the copy. */
function files(): { file: string; folder: string } {
  const home = tempHome();
  mkdirSync(home.home);
  writeFileSync(home.file, 'old');
  writeFileSync(`${home.file}-wal`, 'log');
  const folder = join(home.folder, 'copies');
  mkdirSync(folder);
  return { file: home.file, folder };
}

test('a database that runs a checkpoint while it is copied is copied again, without the WAL that has gone', () => {
  const { file, folder } = files();
  let checkpoints = 1;
  afterCopy.call = (from) => {
    if (!from.endsWith('-wal') || checkpoints-- <= 0) return;
    appendFileSync(file, ' and new');
    rmSync(`${file}-wal`);
  };
  const copy = copyDatabase(file, folder);
  expect(readFileSync(copy, 'utf8')).toBe('old and new');
  expect(() => readFileSync(`${copy}-wal`)).toThrow('ENOENT');
});

test('a database that changes during every attempt is refused', () => {
  const { file, folder } = files();
  afterCopy.call = () => appendFileSync(file, ' and on');
  expect(() => copyDatabase(file, folder)).toThrow(
    `${file} cannot be used (it changed during each of 5 attempts to copy it)`,
  );
});
