import {
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { requireForeignName } from '../../../src/base/files/open-new-file.ts';
import { openRegularFile, openRegularFileSync } from '../../../src/base/files/open-regular-file.ts';
import { ownFile, ownFileBelow, protectStore } from '../../../src/base/files/own-file.ts';
import { tempFolder } from '../../config/temp-folder.ts';

const FILES = {
  'heddle.db': 'db',
  'heddle.db-wal': 'wal',
  'heddle.db-shm': 'shm',
  'heddle-writers/one.lock': '',
  other: 'other',
};

function storeIn(folder: string): { file: string; release: () => void } {
  const file = join(folder, 'heddle.db');
  const release = protectStore(file);
  onTestFinished(release);
  return { file, release };
}

test('the files of all stores of the process are known by every name, until the last user has released them', async () => {
  const folders = [tempFolder(FILES), tempFolder(FILES)];
  const first = folders.map(storeIn);
  const second = storeIn(folders[0] ?? '');
  for (const folder of folders) {
    for (const name of Object.keys(FILES).filter((one) => one !== 'other')) {
      const [hard, soft] = [join(folder, 'hard'), join(folder, 'soft')];
      linkSync(join(folder, name), hard);
      symlinkSync(name, soft);
      for (const path of [join(folder, name), hard, soft]) {
        expect(() => openRegularFileSync(path)).toThrow(/belongs to heddle's own store/);
        await expect(openRegularFile(path)).rejects.toThrow(/belongs to heddle's own store/);
      }
      for (const path of [hard, soft]) rmSync(path);
    }
    const other = openRegularFileSync(join(folder, 'other'));
    expect(other).not.toBe(null);
    closeSync(other?.descriptor ?? 0);
  }
  for (const { release } of first) release();
  expect(ownFile(statSync(second.file))).toBe(second.file);
  second.release();
  expect(ownFile(statSync(second.file))).toBe(null);
});

test('a file that SQLite still has open is known after it has lost its name; one that is closed is a file like any other', () => {
  const folder = tempFolder(FILES);
  const { file } = storeIn(folder);
  const open = openSync(file, 'r');
  expect(ownFile(statSync(file))).toBe(file);
  renameSync(file, join(folder, 'away'));
  writeFileSync(file, 'new');
  untilNextLook();
  expect(ownFile(statSync(join(folder, 'away')))).toBe(file);
  expect(ownFile(statSync(file))).toBe(file);
  closeSync(open);
  expect(ownFile(statSync(join(folder, 'away')))).toBe(null);
});

/** The folder is looked at once in a millisecond. */
function untilNextLook(): void {
  const start = performance.now();
  while (performance.now() - start < 2);
}

test('a file that appears beside the database is known within a millisecond', () => {
  const folder = tempFolder();
  const { file } = storeIn(folder);
  for (const name of Object.keys(FILES)) {
    expect(ownFile({ dev: 0, ino: 0 })).toBe(null);
    mkdirSync(join(folder, 'heddle-writers'), { recursive: true });
    writeFileSync(join(folder, name), '');
    untilNextLook();
    expect(ownFile(statSync(join(folder, name)))).toBe(
      name === 'other' ? null : join(folder, name),
    );
  }
  expect(ownFileBelow(statSync(folder))).toBe(file);
  expect(ownFileBelow(statSync(join(folder, 'heddle-writers')))).toBe(null);
});

test('nothing is created at the names of the store, in any spelling', () => {
  const folder = tempFolder();
  storeIn(folder);
  symlinkSync(folder, join(folder, 'link'));
  for (const name of [
    'heddle.db',
    'heddle.db-wal',
    'HEDDLE.DB-SHM',
    'link/heddle.db-journal',
    './heddle.db',
  ]) {
    expect(() => requireForeignName(`${folder}/${name}`)).toThrow(/belongs to heddle's own store/);
  }
  for (const name of ['heddle.db2', 'heddle.db.bak', 'sub/heddle.db'])
    expect(() => requireForeignName(`${folder}/${name}`)).not.toThrow();
});
