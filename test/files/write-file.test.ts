import { linkSync, lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { writeAll } from '../../src/files/write-all.ts';
import { writeFile } from '../../src/files/write-file.ts';
import { tempFolder } from '../config/temp-folder.ts';

/** How often a file that is opened for overwriting is another one than before. */
const system = vi.hoisted(() => ({ changes: 0 }));

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  return {
    ...real,
    async open(...args: Parameters<typeof real.open>) {
      const handle = await real.open(...args);
      // By its descriptor, after a look at it.
      if (system.changes > 0 && String(args[0]).startsWith('/proc/')) {
        system.changes--;
        const stats = await handle.stat({ bigint: true });
        handle.stat = async () => ({ ...stats, ino: 0n }) as never;
      }
      return handle;
    },
  };
});

beforeEach(() => {
  system.changes = 0;
});

const write = (path: string, text: string) =>
  writeFile(path, (file) => writeAll(file, Buffer.from(text)));

test('a file that is replaced meanwhile is looked at again, a few times', async () => {
  const path = join(tempFolder(), 'file');
  writeFileSync(path, 'old');
  linkSync(path, `${path}-2`);
  system.changes = 2;
  await write(path, 'new');
  expect(readFileSync(`${path}-2`, 'utf8')).toBe('new');
  system.changes = 3;
  await expect(write(path, 'newer')).rejects.toMatchObject({
    code: -32603,
    data: { code: 'file_failed', path },
  });
  expect(readFileSync(path, 'utf8')).toBe('new');
});

test('links are followed to a file that does not exist yet; a circle of links is refused', async () => {
  const folder = tempFolder();
  symlinkSync('second', join(folder, 'first'));
  symlinkSync('new', join(folder, 'second'));
  symlinkSync('circle', join(folder, 'circle'));
  await write(join(folder, 'first'), 'text');
  expect([
    readFileSync(join(folder, 'new'), 'utf8'),
    lstatSync(join(folder, 'first')).isSymbolicLink(),
  ]).toEqual(['text', true]);
  await expect(write(join(folder, 'circle'), 'text')).rejects.toThrow('ELOOP');
});
