import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isDraftName } from '../../../src/base/files/draft-file.ts';
import { writeDraft } from '../../../src/files/replace-file.ts';
import { PatchError } from '../../../src/tools/apply-patch/patch-error.ts';
import { tempFolder } from '../../config/temp-folder.ts';
import { apply, folderWith, patchOf, tree } from './apply-to-files.ts';

function update(path: string, from: string, to: string): string[] {
  return [`*** Update File: ${path}`, '@@', `-${from}`, `+${to}`];
}

function move(path: string, moveTo: string, from: string, to: string): string[] {
  return [`*** Update File: ${path}`, `*** Move to: ${moveTo}`, '@@', `-${from}`, `+${to}`];
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o7777;
}

describe('operations', () => {
  test('add files with their folders, update, rename and delete them; empty folders stay', async () => {
    const folder = folderWith({
      'up.txt': 'a\nb\n',
      'old/name.txt': 'x\n',
      'gone/del.txt': 'bye\n',
    });
    const patch = patchOf(
      ...update('up.txt', 'b', 'B'),
      '*** Add File: new/deep/n.txt',
      '+one',
      '*** Delete File: gone/del.txt',
      ...move('old/name.txt', 'to/there.txt', 'x', 'y'),
    );
    expect(await apply(folder, patch)).toBeNull();
    expect(tree(folder)).toEqual({
      'up.txt': 'a\nB\n',
      'new/deep/n.txt': 'one\n',
      'to/there.txt': 'y\n',
      'old/': null,
      'gone/': null,
    });
  });

  test('a patch that does not match in one place changes nothing', async () => {
    const folder = folderWith({ 'a.txt': 'a\n' });
    const before = tree(folder);
    for (const wrong of [
      update('a.txt', 'x', 'y'),
      update('none.txt', 'x', 'y'),
      ['*** Delete File: none.txt'],
      update('a.txt/b', 'x', 'y'),
      ['*** Delete File: .'],
    ]) {
      await expect(apply(folder, patchOf('*** Add File: n.txt', '+n', ...wrong))).rejects.toThrow(
        PatchError,
      );
      expect(tree(folder)).toEqual(before);
    }
  });

  test('a change that cannot be written fails; earlier changes stay', async () => {
    const folder = folderWith({ 'a.txt': 'a\n', 'dir/x': 'x\n' });
    expect(
      await apply(
        folder,
        patchOf('*** Add File: n1', '+n', '*** Add File: dir', '+n', '*** Add File: n2', '+n'),
      ),
    ).toBe(`Failed to write ${join(folder, 'dir')}: there is a directory at this path`);
    expect(
      await apply(folder, patchOf('*** Add File: n3', '+n', '*** Add File: a.txt/b/c', '+n')),
    ).toBe(
      `Failed to write ${join(folder, 'a.txt/b/c')}: a file or a link is where a directory should be`,
    );
    expect(tree(folder)).toEqual({ 'a.txt': 'a\n', 'dir/x': 'x\n', n1: 'n\n', n3: 'n\n' });
  });

  test('a file that is not UTF-8 can be replaced, but not updated or deleted', async () => {
    const folder = folderWith({ bin: Buffer.from([0x61, 0xff, 0x0a]) });
    await expect(apply(folder, patchOf(...update('bin', 'a', 'b')))).rejects.toThrow(
      `${join(folder, 'bin')} is not UTF-8 text`,
    );
    await expect(apply(folder, patchOf('*** Delete File: bin'))).rejects.toThrow(
      /is not UTF-8 text/,
    );
    expect(await apply(folder, patchOf('*** Add File: bin', '+text'))).toBeNull();
    expect(tree(folder)).toEqual({ bin: 'text\n' });
  });

  test('do not wait for a pipe', async () => {
    const folder = folderWith({});
    symlinkSync('/dev/null', join(folder, 'null'));
    await expect(apply(folder, patchOf(...update('null', 'a', 'b')))).rejects.toThrow(
      `${join(folder, 'null')} is not a regular file`,
    );
  });

  test('two thousand files', { tags: 'slow' }, async () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `d${index % 100}/f${index}.txt`);
    const folder = folderWith({});
    expect(
      await apply(folder, patchOf(...names.flatMap((name) => [`*** Add File: ${name}`, '+x']))),
    ).toBeNull();
    expect(
      await apply(folder, patchOf(...names.flatMap((name) => update(name, 'x', 'y')))),
    ).toBeNull();
    expect(tree(folder)).toEqual(Object.fromEntries(names.map((name) => [name, 'y\n'])));
  });
});

describe('renames', () => {
  test('swap two names', async () => {
    const folder = folderWith({ a: 'A\n', b: 'B\n' });
    expect(
      await apply(
        folder,
        patchOf(...move('a', 'b', 'A', 'was a'), ...move('b', 'a', 'B', 'was b')),
      ),
    ).toBeNull();
    expect(tree(folder)).toEqual({ a: 'was b\n', b: 'was a\n' });
  });

  test('work in a circle and along a chain, in any order', async () => {
    const folder = folderWith({ a: 'A\n', b: 'B\n', c: 'C\n' });
    const chain = patchOf(
      ...move('a', 'b', 'A', 'a1'),
      ...move('b', 'c', 'B', 'b1'),
      ...move('c', 'd', 'C', 'c1'),
    );
    expect(await apply(folder, chain)).toBeNull();
    expect(tree(folder)).toEqual({ b: 'a1\n', c: 'b1\n', d: 'c1\n' });
    const round = patchOf(
      ...move('d', 'b', 'c1', 'D'),
      ...move('c', 'd', 'b1', 'C'),
      ...move('b', 'c', 'a1', 'B'),
    );
    expect(await apply(folder, round)).toBeNull();
    expect(tree(folder)).toEqual({ b: 'D\n', c: 'B\n', d: 'C\n' });
  });

  test('a swap that fails loses no content', async () => {
    const folder = folderWith({ a: 'A\n', b: 'B\n' });
    const patch = patchOf(...move('a', 'b', 'A', 'was a'), ...move('b', 'a', 'B', 'was b'));
    const failure = await apply(folder, patch, () => {
      rmSync(join(folder, 'a'));
      mkdirSync(join(folder, 'a'));
    });
    expect(failure).toContain('it changed after the patch was verified');
    expect(Object.values(tree(folder))).toEqual(expect.arrayContaining(['was a\n', 'was b\n']));
    expect(failure).toContain('.heddle-');
  });

  test('to where another file is deleted', async () => {
    const folder = folderWith({ a: 'A\n', b: 'B\n' });
    expect(
      await apply(folder, patchOf('*** Delete File: b', ...move('a', 'b', 'A', 'x'))),
    ).toBeNull();
    expect(tree(folder)).toEqual({ b: 'x\n' });
  });

  test('of a file onto itself, by any spelling, are updates', async () => {
    const folder = folderWith({ 'd/a': 'A\n' });
    symlinkSync('d', join(folder, 'e'));
    expect(await apply(folder, patchOf(...move('d/a', './d/../d/a', 'A', 'B')))).toBeNull();
    expect(await apply(folder, patchOf(...move('d/a', 'e/a', 'B', 'C')))).toBeNull();
    expect(tree(folder)).toEqual({ 'd/a': 'C\n', e: '-> d' });
  });

  test('replace what is there and keep the mode of the file', async () => {
    const folder = folderWith({ a: 'A\n', b: 'B\n' });
    chmodSync(join(folder, 'a'), 0o750);
    expect(await apply(folder, patchOf(...move('a', 'b', 'A', 'x')))).toBeNull();
    expect(tree(folder)).toEqual({ b: 'x\n' });
    expect(modeOf(join(folder, 'b'))).toBe(0o750);
  });

  test('to another name of the same file: only the new name is left', async () => {
    const folder = folderWith({ a: 'A\n' });
    linkSync(join(folder, 'a'), join(folder, 'b'));
    expect(await apply(folder, patchOf(...move('a', 'b', 'A', 'x')))).toBeNull();
    expect(tree(folder)).toEqual({ b: 'x\n' });
  });
});

describe('more than one operation for one file is refused', () => {
  test.each([
    ['two changes', [...update('a', 'A', 'x'), ...update('a', 'A', 'y')]],
    ['two changes by two spellings', [...update('a', 'A', 'x'), ...update('./a', 'A', 'y')]],
    [
      'two changes by a link to its folder',
      [...update('d/f', 'F', 'x'), ...update('e/f', 'F', 'y')],
    ],
    ['two changes by a link to it', [...update('a', 'A', 'x'), ...update('l', 'A', 'y')]],
    ['two changes by two names of it', [...update('a', 'A', 'x'), ...update('h', 'A', 'y')]],
    ['a file deleted and added', ['*** Delete File: a', '*** Add File: a', '+x']],
    ['a file added twice', ['*** Add File: n', '+x', '*** Add File: n', '+y']],
    ['two renames to one name', [...move('a', 'n', 'A', 'x'), ...move('b', 'n', 'B', 'y')]],
    ['a rename to a file that is changed', [...move('a', 'b', 'A', 'x'), ...update('b', 'B', 'y')]],
    ['a rename from a file that is deleted', [...move('a', 'n', 'A', 'x'), '*** Delete File: a']],
  ])('%s', async (_name, lines) => {
    const folder = folderWith({ a: 'A\n', b: 'B\n', 'd/f': 'F\n' });
    symlinkSync('d', join(folder, 'e'));
    symlinkSync('a', join(folder, 'l'));
    linkSync(join(folder, 'a'), join(folder, 'h'));
    const before = tree(folder);
    await expect(apply(folder, patchOf(...lines))).rejects.toThrow(/^invalid patch: /);
    expect(tree(folder)).toEqual(before);
  });
});

describe('a file keeps', () => {
  test('its mode when it is updated or replaced, without set-user-id', async () => {
    const folder = folderWith({ a: 'A\n', b: 'B\n', c: 'C\n' });
    chmodSync(join(folder, 'a'), 0o755);
    chmodSync(join(folder, 'b'), 0o600);
    chmodSync(join(folder, 'c'), 0o4755);
    expect(
      await apply(
        folder,
        patchOf(...update('a', 'A', 'x'), '*** Add File: b', '+x', ...update('c', 'C', 'x')),
      ),
    ).toBeNull();
    expect(['a', 'b', 'c'].map((name) => modeOf(join(folder, name)))).toEqual([
      0o755, 0o600, 0o755,
    ]);
  });

  test('its symbolic link', async () => {
    const folder = folderWith({ 'real/a': 'A\n' });
    symlinkSync('real/a', join(folder, 'link'));
    expect(await apply(folder, patchOf(...update('link', 'A', 'x')))).toBeNull();
    expect(await apply(folder, patchOf('*** Add File: link', '+y'))).toBeNull();
    expect(tree(folder)).toEqual({ 'real/a': 'y\n', link: '-> real/a' });
  });

  test('its dangling symbolic link; a link in a loop is refused', async () => {
    const folder = folderWith({});
    symlinkSync('new', join(folder, 'link'));
    symlinkSync('circle', join(folder, 'circle'));
    expect(await apply(folder, patchOf('*** Add File: link', '+y'))).toBeNull();
    expect(tree(folder)).toEqual({ new: 'y\n', link: '-> new', circle: '-> circle' });
    await expect(apply(folder, patchOf('*** Add File: circle', '+y'))).rejects.toThrow(
      /circle is a symbolic link that cannot be resolved$/,
    );
  });

  test('its hard links', async () => {
    const folder = folderWith({ a: 'longer than what comes\n' });
    linkSync(join(folder, 'a'), join(folder, 'b'));
    expect(await apply(folder, patchOf(...update('a', 'longer than what comes', 'x')))).toBeNull();
    expect(tree(folder)).toEqual({ a: 'x\n', b: 'x\n' });
    expect(lstatSync(join(folder, 'a')).ino).toBe(lstatSync(join(folder, 'b')).ino);
  });

  test('its target when a link to it is deleted or renamed', async () => {
    const folder = folderWith({ a: 'A\n' });
    symlinkSync('a', join(folder, 'l'));
    symlinkSync('a', join(folder, 'm'));
    expect(
      await apply(folder, patchOf('*** Delete File: l', ...move('m', 'n', 'A', 'x'))),
    ).toBeNull();
    expect(tree(folder)).toEqual({ a: 'A\n', n: 'x\n' });
  });

  test('no draft beside it', async () => {
    const folder = folderWith({ a: 'A\n' });
    expect(await apply(folder, patchOf(...update('a', 'A', 'B')))).toBeNull();
    expect(tree(folder)).toEqual({ a: 'B\n' });
  });
});

describe('between verifying and writing', () => {
  function secret(): string {
    const outside = tempFolder();
    writeFileSync(join(outside, 'a'), 'secret\n');
    return outside;
  }

  test('a folder that becomes a link is not followed', async () => {
    for (const lines of [
      update('d/a', 'A', 'x'),
      ['*** Add File: d/n', '+x'],
      ['*** Add File: d/e/n', '+x'],
      ['*** Delete File: d/a'],
    ]) {
      const folder = folderWith({ 'd/a': 'A\n' });
      const outside = secret();
      const failure = await apply(folder, patchOf(...lines), () => {
        renameSync(join(folder, 'd'), join(folder, 'was'));
        symlinkSync(outside, join(folder, 'd'));
      });
      expect(tree(outside)).toEqual({ a: 'secret\n' });
      expect(
        failure === null || /a file or a link is where a directory should be/.test(failure),
      ).toBe(true);
    }
  });

  test('a parent folder that becomes a link is not followed', async () => {
    const folder = folderWith({ 'x/y/a': 'A\n' });
    const outside = secret();
    mkdirSync(join(outside, 'y'));
    writeFileSync(join(outside, 'y/a'), 'A\n');
    await apply(folder, patchOf(...update('x/y/a', 'A', 'B')), () => {
      renameSync(join(folder, 'x'), join(folder, 'was'));
      symlinkSync(outside, join(folder, 'x'));
    });
    expect(tree(outside)).toEqual({ a: 'secret\n', 'y/a': 'A\n' });
  });

  test('a link that another process puts in the place of a new folder is not followed', async () => {
    const folder = folderWith({});
    const outside = secret();
    const failure = await apply(folder, patchOf('*** Add File: n/a', '+x'), () =>
      symlinkSync(outside, join(folder, 'n')),
    );
    expect(failure).toMatch(
      /a file or a link is where a directory should be|there is a symbolic link on the path/,
    );
    expect(tree(outside)).toEqual({ a: 'secret\n' });
  });

  test('a file that becomes a link is not followed', async () => {
    const folder = folderWith({ a: 'A\n' });
    const outside = secret();
    const failure = await apply(folder, patchOf(...update('a', 'A', 'x')), () => {
      rmSync(join(folder, 'a'));
      symlinkSync(join(outside, 'a'), join(folder, 'a'));
    });
    expect(failure).toBe(
      `Failed to write ${join(folder, 'a')}: it changed after the patch was verified`,
    );
    expect(tree(outside)).toEqual({ a: 'secret\n' });
  });

  test('a file that becomes a hard link to another is not written through', async () => {
    const folder = folderWith({ a: 'A\n', other: 'other\n' });
    const failure = await apply(folder, patchOf(...update('a', 'A', 'x')), () => {
      rmSync(join(folder, 'a'));
      linkSync(join(folder, 'other'), join(folder, 'a'));
    });
    expect(failure).toMatch(/it changed after the patch was verified/);
    expect(tree(folder)).toEqual({ a: 'other\n', other: 'other\n' });
  });

  test('a file that gets another hard link is not written', async () => {
    const folder = folderWith({ a: 'A\n' });
    const failure = await apply(folder, patchOf(...update('a', 'A', 'x')), () =>
      linkSync(join(folder, 'a'), join(folder, 'b')),
    );
    expect(failure).toMatch(/it changed after the patch was verified/);
    expect(tree(folder)).toEqual({ a: 'A\n', b: 'A\n' });
  });

  test('the other hard links of a file that is deleted, moved or replaced by a move keep their content', async () => {
    const folder = folderWith({ gone: 'G\n', from: 'F\n', to: 'T\n' });
    for (const name of ['gone', 'from', 'to'])
      linkSync(join(folder, name), join(folder, `${name}-link`));
    expect(
      await apply(folder, patchOf('*** Delete File: gone', ...move('from', 'to', 'F', 'x'))),
    ).toBeNull();
    expect(tree(folder)).toEqual({
      'gone-link': 'G\n',
      'from-link': 'F\n',
      to: 'x\n',
      'to-link': 'T\n',
    });
  });

  test('changes by another process are not lost', async () => {
    const folder = folderWith({ a: 'A\n' });
    expect(
      await apply(folder, patchOf(...update('a', 'A', 'x')), () => {
        writeFileSync(join(folder, 'a'), 'B\n');
        utimesSync(join(folder, 'a'), 1, 1);
      }),
    ).toMatch(/it changed after/);
    expect(
      await apply(folder, patchOf('*** Add File: n', '+x'), () =>
        writeFileSync(join(folder, 'n'), 'mine\n'),
      ),
    ).toMatch(/it changed after/);
    expect(tree(folder)).toEqual({ a: 'B\n', n: 'mine\n' });
  });
});

test('the file that is written beside a file has the name of a draft, which watches of the folder ignore', async () => {
  const folder = folderWith({ a: 'A\n' });
  const draft = await writeDraft(join(folder, 'a'), null, { fill: async () => 0, mode: null });
  expect(isDraftName(draft)).toBe(true);
});
