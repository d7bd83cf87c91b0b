import { statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeFolder, makeFolderSync } from '../../../src/base/paths/make-folder.ts';
import { tempFolder } from '../../config/temp-folder.ts';

const makers: [string, (path: string, mode?: number) => Promise<void>][] = [
  ['makeFolder', makeFolder],
  ['makeFolderSync', async (path, mode) => makeFolderSync(path, mode)],
];

describe.each(makers)('%s', (_name, make) => {
  test('makes missing folders with the mode and leaves existing ones as they are', async () => {
    const folder = tempFolder();
    const before = statSync(folder).mode;
    await make(join(folder, 'a', 'b'), 0o700);
    await make(join(folder, 'a', 'b'), 0o777);
    const modes = ['a', 'a/b'].map((path) => statSync(join(folder, path)).mode & 0o777);
    expect([statSync(folder).mode, ...modes]).toEqual([before, 0o700, 0o700]);
  });

  test('two calls at once both succeed', async () => {
    const path = join(tempFolder(), 'a', 'b', 'c');
    await Promise.all([make(path), make(path)]);
    expect(statSync(path).isDirectory()).toBe(true);
  });

  test('fails if a file is in the way', async () => {
    const file = join(tempFolder(), 'file');
    writeFileSync(file, '');
    await expect(make(file, 0o700)).rejects.toThrow(/EEXIST.*file'/);
    await expect(make(join(file, 'a', 'b'), 0o700)).rejects.toThrow(/ENOTDIR.*file/);
  });

  test('fails at once if a link in the way leads nowhere', async () => {
    const link = join(tempFolder(), 'link');
    symlinkSync('nowhere', link);
    await expect(make(join(link, 'a'))).rejects.toThrow(/EEXIST.*link'/);
  });

  test('fails at once where the system allows no new folder', async () => {
    await expect(make('/proc/heddle/home', 0o700)).rejects.toThrow(/ENOENT|EACCES|EPERM|EROFS/);
  });
});
