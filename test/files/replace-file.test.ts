import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { FileChangedError, type NewContents, replaceFile } from '../../src/files/replace-file.ts';
import { writeAll } from '../../src/files/write-all.ts';
import { tempFolder } from '../config/temp-folder.ts';

/** The code with which the system refuses these calls; null if it allows them. */
const system = vi.hoisted(() => ({
  draft: null as string | null,
  rename: null as string | null,
  owner: null as string | null,
}));

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  const refused = (code: string) => Object.assign(new Error(`${code}: refused`), { code });
  return {
    ...real,
    async open(...args: Parameters<typeof real.open>) {
      const isDraft = String(args[0]).endsWith('.tmp');
      if (isDraft && system.draft !== null) throw refused(system.draft);
      const handle = await real.open(...args);
      const { owner } = system;
      if (isDraft && owner !== null) {
        handle.stat = async () =>
          ({ ...(await real.stat(args[0], { bigint: true })), uid: 4_000_000_000n }) as never;
        handle.chown = () => Promise.reject(refused(owner));
      }
      return handle;
    },
    rename: (...args: Parameters<typeof real.rename>) =>
      system.rename === null ? real.rename(...args) : Promise.reject(refused(system.rename)),
  };
});

beforeEach(() => {
  Object.assign(system, { draft: null, rename: null, owner: null });
});

function contents(
  text: string,
  { mode = 0o644, before = null }: Partial<NewContents> = {},
): NewContents {
  return { fill: (file) => writeAll(file, Buffer.from(text)), mode, before };
}

/** Writes a part of the contents, and then finds no more space. */
async function fillPart(file: FileHandle): Promise<number> {
  await writeAll(file, Buffer.from('part'));
  throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
}

function folderWithFile(text: string): {
  folder: string;
  path: string;
  found: () => ReturnType<typeof foundAt>;
} {
  const folder = tempFolder();
  const path = join(folder, 'file');
  writeFileSync(path, text);
  return { folder, path, found: () => foundAt(path) };
}

function foundAt(path: string) {
  return lstatSync(path, { bigint: true });
}

test('a draft takes the place of the file, with the mode and without set-user-id bits', async () => {
  const { folder, path, found } = folderWithFile('old');
  const { ino } = found();
  await replaceFile(path, found(), contents('new', { mode: 0o4750 }));
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o7777, readdirSync(folder)]).toEqual([
    'new',
    0o750,
    ['file'],
  ]);
  expect(found().ino).not.toBe(ino);
});

test.runIf(process.getuid?.() === 0)('the file keeps its owner', async () => {
  const { path, found } = folderWithFile('old');
  chownSync(path, 1234, 1235);
  await replaceFile(path, found(), contents('new'));
  expect(statSync(path)).toMatchObject({ uid: 1234, gid: 1235 });
});

test.each([
  ['whose owner cannot be kept', { owner: 'EPERM' }],
  ['whose owner the user namespace does not know', { owner: 'EINVAL' }],
  ['in a folder that takes no new files', { draft: 'EACCES' }],
  ['in a folder of a read-only file system', { draft: 'EROFS' }],
  ['that may not be replaced in its folder', { rename: 'EPERM' }],
])('a file %s is overwritten', async (_name, refused) => {
  const { folder, path, found } = folderWithFile('longer than the new contents');
  const { ino } = found();
  Object.assign(system, refused);
  await replaceFile(path, found(), contents('new'));
  expect([found().ino, readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual([
    ino,
    'new',
    ['file'],
  ]);
});

test('a file that cannot be made because of its folder is not made in another way', async () => {
  system.draft = 'EACCES';
  const folder = tempFolder();
  await expect(replaceFile(join(folder, 'new'), null, contents('new'))).rejects.toThrow('EACCES');
  expect(readdirSync(folder)).toEqual([]);
});

test('a file with several names stays one file, and loses its set-user-id bit', async () => {
  const { folder, path, found } = folderWithFile('old');
  linkSync(path, join(folder, 'other'));
  chmodSync(path, 0o4755);
  await replaceFile(path, found(), contents('new', { mode: 0o4755 }));
  expect([readFileSync(join(folder, 'other'), 'utf8'), statSync(path).mode & 0o7777]).toEqual([
    'new',
    0o755,
  ]);
});

test('a failure leaves the file as it was and no draft', async () => {
  const { folder, path, found } = folderWithFile('old contents');
  await expect(
    replaceFile(path, found(), { fill: fillPart, mode: 0o644, before: null }),
  ).rejects.toThrow('ENOSPC');
  system.rename = 'EBUSY';
  await expect(replaceFile(path, found(), contents('new'))).rejects.toThrow('EBUSY');
  expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual(['old contents', ['file']]);
});

test('a failure while a file is overwritten puts the old contents back, if they are known', async () => {
  const { path, found } = folderWithFile('old');
  linkSync(path, `${path}-2`);
  await expect(
    replaceFile(path, found(), { fill: fillPart, mode: 0o644, before: 'old' }),
  ).rejects.toThrow('ENOSPC');
  expect(readFileSync(path, 'utf8')).toBe('old');
});

test('a file that has taken the place of another one is not overwritten', async () => {
  const { folder, path, found } = folderWithFile('old');
  linkSync(path, join(folder, 'other'));
  const before = found();
  writeFileSync(join(folder, 'mine'), 'mine');
  renameSync(join(folder, 'mine'), path);
  await expect(replaceFile(path, before, contents('new'))).rejects.toThrow(FileChangedError);
  expect(readFileSync(path, 'utf8')).toBe('mine');
});
