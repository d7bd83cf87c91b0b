import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { gitIndexSubmodulePaths, gitIndexSubmodules } from '../../src/git/git-index-submodules.ts';
import { tempFolder } from '../config/temp-folder.ts';

/** A repository with files whose names have many lengths, and what it says about its index. */
function repository(...commands: string[][]): Promise<boolean | null> {
  const names = Array.from(
    { length: 40 },
    (_, index) => [`f${'x'.repeat(index)}`, String(index)] as const,
  );
  const folder = tempFolder(Object.fromEntries([...names, ['sub/one', '1']]));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'ignore' });
  git('init');
  for (const command of commands) git(...command);
  return gitIndexSubmodules(join(folder, '.git'));
}

const ADD = ['add', '-A'];
const link = (name: string) => [
  'update-index',
  '--add',
  '--cacheinfo',
  `160000,${'1'.repeat(40)},${name}`,
];

test.each<[string, string[][], boolean | null]>([
  ['no index', [], false],
  ['files', [ADD], false],
  ['files in version 4', [ADD, ['update-index', '--index-version=4']], false],
  ['files with further flags', [['add', '--intent-to-add', '.']], false],
  ['a submodule first', [ADD, link('a')], true],
  ['a submodule last', [ADD, link('zz')], true],
  ['a submodule between', [ADD, link('fxxxy')], true],
  ['a submodule in version 4', [ADD, link('fxxxy'), ['update-index', '--index-version=4']], true],
  [
    'a submodule beside files with further flags',
    [['add', '--intent-to-add', '.'], link('zz')],
    true,
  ],
  ['an index in two files', [ADD, ['update-index', '--split-index']], null],
])('the index of a repository with %s', async (_what, commands, expected) => {
  expect(await repository(...commands)).toBe(expected);
});

test('an index that is no index, or that ends early, is not certain', async () => {
  const folder = tempFolder({ index: 'DIRC\0\0\0\u0002\0\0\0\u0009' });
  expect(await gitIndexSubmodules(folder)).toBeNull();
  writeFileSync(join(folder, 'index'), 'x'.repeat(200));
  expect(await gitIndexSubmodules(folder)).toBeNull();
});

test.each(['2', '4'])('the paths of submodules, in version %s', async (version) => {
  const folder = tempFolder({ 'a/file': '', 'sub/one/file': '' });
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'ignore' });
  git('init');
  for (const args of [
    ADD,
    link('sub/one/inner'),
    link('sub/two'),
    ['update-index', `--index-version=${version}`],
  ])
    git(...args);
  expect(await gitIndexSubmodulePaths(join(folder, '.git'))).toEqual(['sub/one/inner', 'sub/two']);
});
