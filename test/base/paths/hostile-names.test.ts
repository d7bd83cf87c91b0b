import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { followPath, LINKS_MAX, resolveLinks } from '../../../src/base/paths/follow-path.ts';
import { isFolder } from '../../../src/base/paths/is-folder.ts';
import { linkTarget } from '../../../src/base/paths/link-target.ts';
import { realPath, realPathOrSame } from '../../../src/base/paths/real-path.ts';
import { statOf, unlessUnseen } from '../../../src/base/paths/stat-of.ts';
import { tempFolder } from '../../config/temp-folder.ts';

const NAMES: [string, string][] = [
  ['a NUL', 'a\0b'],
  ['a NUL in a folder of it', 'a\0b/c'],
  ['a part that is too long', 'n'.repeat(256)],
  ['too many parts', 'a/'.repeat(3000)],
  ['a file as a folder', 'file/below'],
  ['a circle of links', 'circle/below'],
  ['more links than the system follows', 'link0/below'],
  ['a lone surrogate', '\uD800'],
  ['nothing', 'missing'],
];

function hostileFolder(): string {
  const folder = tempFolder({ file: '' });
  symlinkSync('circle', join(folder, 'circle'));
  mkdirSync(join(folder, 'end'));
  for (let index = 0; index <= LINKS_MAX; index++)
    symlinkSync(index === LINKS_MAX ? 'end' : `link${index + 1}`, join(folder, `link${index}`));
  return folder;
}

describe('a path with', () => {
  test.each(NAMES)('%s is unseen, and is no error', (_what, name) => {
    const path = join(hostileFolder(), name);
    expect([statOf(path), linkTarget(path), realPath(path), isFolder(path)]).toEqual([
      null,
      null,
      null,
      false,
    ]);
    expect(realPathOrSame(path)).toBe(path);
    expect(() => resolveLinks(path)).not.toThrow();
  });

  test('a NUL stays as it is named', () => {
    const path = join(tempFolder(), 'a\0b', 'c');
    expect(followPath(path)).toEqual({ end: path, links: [], isComplete: true });
  });
});

test('an unreadable disk is unseen; a failure of the server itself is an error', () => {
  const failing = (code: string) => () => {
    throw Object.assign(new Error(code), { code, syscall: 'lstat' });
  };
  for (const code of [
    'EIO',
    'EINVAL',
    'EACCES',
    'EPERM',
    'ESTALE',
    'EOVERFLOW',
    'ENXIO',
    'EILSEQ',
    'ENODEV',
  ])
    expect(unlessUnseen(failing(code))).toBe(null);
  for (const code of ['EMFILE', 'ENFILE', 'ENOMEM'])
    expect(() => unlessUnseen(failing(code))).toThrow(code);
  const broken = () => {
    throw new TypeError('a mistake');
  };
  expect(() => unlessUnseen(broken)).toThrow('a mistake');
});
