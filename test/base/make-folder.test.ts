import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../../src/base/make-folder.ts';
import { tempFolder } from '../config/temp-folder.ts';

test('missing folders are created with the mode, existing ones stay as they are', () => {
  const folder = tempFolder();
  const before = statSync(folder).mode;
  makeFolder(join(folder, 'a', 'b'), 0o700);
  makeFolder(join(folder, 'a', 'b'), 0o777);
  expect([statSync(folder).mode, ...['a', 'a/b'].map((path) => statSync(join(folder, path)).mode & 0o777)]).toEqual([before, 0o700, 0o700]);
});

test('a file in the way throws', () => {
  const file = join(tempFolder(), 'file');
  writeFileSync(file, '');
  expect(() => makeFolder(file, 0o700)).toThrow(/EEXIST/);
  expect(() => makeFolder(join(file, 'a', 'b'), 0o700)).toThrow(/EEXIST.*file'/);
});

test('a place where no folder can be created throws', () => {
  expect(() => makeFolder('/proc/heddle/home', 0o700)).toThrow(/ENOENT|EACCES|EPERM|EROFS/);
});
