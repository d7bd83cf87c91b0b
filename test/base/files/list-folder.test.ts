import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type FolderEntries,
  listFolder,
  listFolderSync,
} from '../../../src/base/files/list-folder.ts';
import { tempFolder } from '../../config/temp-folder.ts';
import { hostileEntry } from './hostile-entries.ts';

const names = ({ entries, cut }: FolderEntries) => [entries.map(({ name }) => name).sort(), cut];

describe.each<[string, (path: string, entriesMax: number) => Promise<FolderEntries>]>([
  ['off the main loop', listFolder],
  ['at once', async (path, entriesMax) => listFolderSync(path, entriesMax)],
])('a folder that is listed %s', (_how, list) => {
  test('has its entries, themselves even if they are links', async () => {
    const folder = tempFolder({ a: '', 'b/c': '' });
    symlinkSync('b', join(folder, 'd'));
    const { entries, cut } = await list(folder, 3);
    const kinds = entries.map((entry) => [
      entry.name,
      entry.isFile(),
      entry.isDirectory(),
      entry.isSymbolicLink(),
    ]);
    expect([kinds.sort(), cut]).toEqual([
      [
        ['a', true, false, false],
        ['b', false, true, false],
        ['d', false, false, true],
      ],
      false,
    ]);
  });

  test('is cut at the limit, and says so', async () => {
    const folder = tempFolder(
      Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`f${index}`, ''])),
    );
    expect(names(await list(folder, 600))[1]).toBe(false);
    const cut = await list(folder, 599);
    expect([cut.entries.length, cut.cut]).toEqual([599, true]);
    expect(names(await list(folder, 0))).toEqual([[], true]);
    expect(names(await list(tempFolder(), 0))).toEqual([[], false]);
  });

  test.each([
    'a pipe',
    'a socket',
    'a link to an endless device',
    'a link to itself',
    'a huge file',
  ])('is refused by the system if it is %s, without waiting', async (kind) => {
    await expect(list(hostileEntry(tempFolder(), kind), 10)).rejects.toThrow(/^(ENOTDIR|ELOOP)/);
  });

  test('with a NUL in its name does not exist', async () => {
    await expect(list(`${tempFolder()}\0`, 10)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
