import { readdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FileRefusedError } from '../../../src/base/files/file-refused-error.ts';
import {
  type ReadOptions,
  readRegularFile,
  readRegularFileSync,
} from '../../../src/base/files/read-regular-file.ts';
import { textOf } from '../../../src/base/files/text-of.ts';
import { tempFolder } from '../../config/temp-folder.ts';
import { HOSTILE_ENTRIES, HUGE_BYTES, hostileEntry } from './hostile-entries.ts';

/** Called between the look at a path and its opening, with the path. */
let beforeOpen: (path: string) => void = () => {};
const opening = (path: string) => (path.startsWith('/proc/') ? undefined : beforeOpen(path));

vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>();
  return {
    ...fs,
    openSync: (path: string, flags: number) => opening(path) ?? fs.openSync(path, flags),
  };
});
vi.mock('node:fs/promises', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs/promises')>();
  return { ...fs, open: (path: string, flags: number) => opening(path) ?? fs.open(path, flags) };
});

const BYTES_MAX = 1024;
const READERS: [string, (path: string, options?: Partial<ReadOptions>) => Promise<unknown>][] = [
  [
    'off the main loop',
    (path, options) => readRegularFile(path, { bytesMax: BYTES_MAX, ...options }),
  ],
  [
    'at once',
    async (path, options) => readRegularFileSync(path, { bytesMax: BYTES_MAX, ...options }),
  ],
];

const openFiles = () => readdirSync('/proc/self/fd').length;
let openBefore = 0;

beforeEach(() => {
  openBefore = openFiles();
});

afterEach(() => {
  beforeOpen = () => {};
  expect(openFiles()).toBe(openBefore);
});

describe.each(READERS)('a file that is read %s', (_how, read) => {
  test('is read whole, and through links', async () => {
    const folder = tempFolder({ file: 'text', empty: '' });
    symlinkSync('file', join(folder, 'link'));
    for (const name of ['file', 'link'])
      expect(await read(join(folder, name))).toEqual({ bytes: Buffer.from('text'), size: 4 });
    expect(await read(join(folder, 'empty'))).toEqual({ bytes: Buffer.alloc(0), size: 0 });
  });

  test.each([
    ['missing', 'missing'],
    ['below a file', 'file/below'],
    ['named with a NUL', 'file\0'],
    ['below a name with a NUL', '\0/file'],
  ])('that is %s is none', async (_what, name) => {
    expect(await read(join(tempFolder({ file: 'text' }), name))).toBe(null);
  });

  test('that a link through a file names is none; nor is one that disappears when it is opened', async () => {
    const folder = tempFolder({ file: 'text' });
    expect(await read(hostileEntry(folder, 'a link through a file'))).toBe(null);
    beforeOpen = (path) => rmSync(path);
    expect(await read(join(folder, 'file'))).toBe(null);
  });

  test('may have as many bytes as the reader says, and no more', async () => {
    const folder = tempFolder({
      exact: Buffer.alloc(BYTES_MAX),
      larger: Buffer.alloc(BYTES_MAX + 1),
    });
    expect(await read(join(folder, 'exact'))).toEqual({
      bytes: Buffer.alloc(BYTES_MAX),
      size: BYTES_MAX,
    });
    await expect(read(join(folder, 'larger'))).rejects.toThrow(
      /^it has 1025 bytes, and the limit is 1024$/,
    );
  });

  test('is cut only if the reader says so', async () => {
    const huge = hostileEntry(tempFolder(), 'a huge file');
    await expect(read(huge)).rejects.toThrow(FileRefusedError);
    const start = Buffer.concat([
      Buffer.from('gitdir: elsewhere\n'),
      Buffer.alloc(BYTES_MAX),
    ]).subarray(0, BYTES_MAX);
    expect(await read(huge, { cut: true })).toEqual({ bytes: start, size: HUGE_BYTES });
  });

  test('that lies where it may not is not read, also behind a link', async () => {
    const folder = tempFolder({ 'in/file': 'text', out: 'secret' });
    symlinkSync('../out', join(folder, 'in', 'link'));
    const mayLieAt = (real: string) => dirname(real) === join(folder, 'in');
    expect(await read(join(folder, 'in', 'file'), { mayLieAt })).toMatchObject({ size: 4 });
    await expect(read(join(folder, 'in', 'link'), { mayLieAt })).rejects.toThrow(/may not be read/);
  });

  test('that has become a link in the meantime is judged by where the link leads', async () => {
    const folder = tempFolder({ 'in/file': 'text', out: 'secret' });
    const path = join(folder, 'in', 'file');
    beforeOpen = () => {
      rmSync(path);
      symlinkSync('../out', path);
    };
    const mayLieAt = (real: string) => dirname(real) === join(folder, 'in');
    await expect(read(path, { mayLieAt })).rejects.toThrow(/may not be read/);
  });

  test.each(Object.keys(HOSTILE_ENTRIES).filter((kind) => !/huge|through/.test(kind)))(
    'that is %s is refused, without waiting',
    async (kind) => {
      await expect(read(hostileEntry(tempFolder(), kind))).rejects.toThrow(
        /is not a regular file|ELOOP|ENAMETOOLONG/,
      );
    },
  );

  test.each(['a pipe', 'a link to an endless device', 'a folder', 'a socket'])(
    'that becomes %s when it is opened is refused',
    async (kind) => {
      const folder = tempFolder({ file: 'text' });
      const other = hostileEntry(folder, kind);
      const path = join(folder, 'file');
      let swapped = false;
      beforeOpen = (opened) => {
        if (swapped || basename(opened) !== 'file') return;
        swapped = true;
        rmSync(path);
        renameSync(other, path);
      };
      // ENXIO: the system itself does not open sockets.
      await expect(read(path)).rejects.toThrow(/is not a regular file|ENXIO/);
      expect(swapped).toBe(true);
    },
  );

  test('that grows or shrinks when it is opened is read within its limit', async () => {
    const path = join(tempFolder({ file: 'text' }), 'file');
    beforeOpen = () => truncateSync(path, HUGE_BYTES);
    await expect(read(path)).rejects.toThrow(/it has 629145600 bytes/);
    beforeOpen = () => truncateSync(path, 2);
    writeFileSync(path, 'text');
    expect(await read(path)).toEqual({ bytes: Buffer.from('te'), size: 2 });
  });
});

test('a file that may not be a link is not read through one', async () => {
  const folder = tempFolder({ file: 'text' });
  symlinkSync('file', join(folder, 'link'));
  const options = { bytesMax: BYTES_MAX, followLinks: false };
  expect(await readRegularFile(join(folder, 'file'), options)).toMatchObject({ size: 4 });
  await expect(readRegularFile(join(folder, 'link'), options)).rejects.toThrow(
    /is not a regular file/,
  );
  const path = join(folder, 'file');
  beforeOpen = () => {
    renameSync(path, join(folder, 'moved'));
    symlinkSync('moved', path);
  };
  await expect(readRegularFile(path, options)).rejects.toThrow(/is not a regular file|ELOOP/);
});

describe('an optional text', () => {
  test('is read up to its limit', () => {
    const folder = tempFolder({ file: 'täxt' });
    expect(textOf(join(folder, 'file'), 5)).toBe('täxt');
    expect(textOf(join(folder, 'file'), 4)).toBe(null);
  });

  test.each(Object.keys(HOSTILE_ENTRIES))('is none where there is %s', (kind) => {
    expect(textOf(hostileEntry(tempFolder(), kind), BYTES_MAX)).toBe(null);
  });

  test.each(['missing', 'file/below', 'file\0', 'n'.repeat(300), 'a/'.repeat(3000)])(
    'is none at a name like %j',
    (name) => {
      expect(textOf(join(tempFolder({ file: 'text' }), name), BYTES_MAX)).toBe(null);
    },
  );
});
