import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readAgentsMd } from '../../src/instructions/agents-md.ts';
import { tempFolder, tempRepository, writeFiles } from '../config/temp-folder.ts';

const agentsMdOf = (
  home: string,
  cwd: string,
  more: { projectBytesMax?: number; fallbackFileNames?: string[] } = {},
) =>
  readAgentsMd({
    home,
    cwd,
    projectBytesMax: 32_768,
    fallbackFileNames: [],
    mayBeRead: () => true,
    ...more,
  });

function linkBeside(folder: string): void {
  const beside = `${folder}-beside`;
  mkdirSync(beside);
  onTestFinished(() => rmSync(beside, { recursive: true }));
  writeFiles(beside, { 'AGENTS.md': 'SECRET' });
  symlinkSync(join(beside, 'AGENTS.md'), join(folder, 'AGENTS.md'));
}

describe('what is no instruction file is passed over', () => {
  const empty = (folder: string) => ({ folder, sources: [], text: '' });
  const things: [string, (folder: string) => void][] = [
    ['nothing', () => {}],
    ['a folder', (folder) => mkdirSync(join(folder, 'AGENTS.md'))],
    ['a pipe', (folder) => execFileSync('mkfifo', [join(folder, 'AGENTS.md')])],
    ['a device', (folder) => symlinkSync('/dev/zero', join(folder, 'AGENTS.md'))],
    [
      'a blank file',
      (folder) => execFileSync('sh', ['-c', 'printf " \\n\\t\\n" > AGENTS.md'], { cwd: folder }),
    ],
    ['a link that leads nowhere', (folder) => symlinkSync('nowhere', join(folder, 'AGENTS.md'))],
    ['a link to itself', (folder) => symlinkSync('AGENTS.md', join(folder, 'AGENTS.md'))],
    [
      'a link out of the project',
      (folder) =>
        symlinkSync(join(tempFolder({ secret: 'SECRET' }), 'secret'), join(folder, 'AGENTS.md')),
    ],
    ['a link to a folder beside, whose name only begins alike', linkBeside],
  ];
  test.each(things)('%s', (_, make) => {
    const folder = tempRepository({});
    make(folder);
    expect(agentsMdOf(tempFolder(), folder)).toEqual(empty(folder));
  });

  test('a home and a cwd that do not exist', () => {
    const folder = tempFolder();
    expect(agentsMdOf(join(folder, 'no-home'), join(folder, 'no-cwd'))).toEqual(
      empty(join(folder, 'no-cwd')),
    );
  });
});

test('the home comes first, then the folders from the root of the repository to the cwd', () => {
  const home = tempFolder({ 'AGENTS.md': 'HOME\n' });
  const folder = tempRepository({
    'AGENTS.md': '\nROOT\n\n',
    'a/AGENTS.md': 'A',
    'a/b/AGENTS.md': 'B',
    'c/AGENTS.md': 'C',
  });
  const paths = [
    join(home, 'AGENTS.md'),
    join(folder, 'AGENTS.md'),
    join(folder, 'a', 'AGENTS.md'),
  ];
  expect(agentsMdOf(home, join(folder, 'a'))).toEqual({
    folder,
    sources: paths,
    text: `From ${paths[0]}:\n\nHOME\n\nFrom ${paths[1]}:\n\nROOT\n\nFrom ${paths[2]}:\n\nA`,
  });
});

test('a worktree, whose .git is a file, is a root too', () => {
  const folder = tempFolder({
    'AGENTS.md': 'OUTER',
    'tree/.git': 'gitdir: elsewhere',
    'tree/AGENTS.md': 'ROOT',
    'tree/a/AGENTS.md': 'A',
  });
  const tree = join(folder, 'tree');
  expect(agentsMdOf(tempFolder(), join(tree, 'a')).sources).toEqual([
    join(tree, 'AGENTS.md'),
    join(tree, 'a', 'AGENTS.md'),
  ]);
});

test.each([
  ['an empty folder', (path: string) => mkdirSync(path)],
  [
    'a guard that a killed server has left',
    (path: string) => mkdirSync(join(path, 'held-for-sandbox-1-1-0a'), { recursive: true }),
  ],
  ['a link to an empty folder', (path: string) => symlinkSync(tempFolder(), path)],
])('a .git that is %s is no root', (_, make) => {
  const folder = tempRepository({ 'AGENTS.md': 'ROOT', 'a/AGENTS.md': 'A' });
  make(join(folder, 'a', '.git'));
  const paths = [join(folder, 'AGENTS.md'), join(folder, 'a', 'AGENTS.md')];
  expect(agentsMdOf(tempFolder(), join(folder, 'a')).sources).toEqual(paths);
  rmSync(join(folder, '.git'), { recursive: true });
  expect(agentsMdOf(tempFolder(), join(folder, 'a')).sources).toEqual(paths.slice(1));
});

test('outside of a repository only the cwd counts', () => {
  const folder = tempFolder({ 'AGENTS.md': 'OUTER', 'a/AGENTS.md': 'INNER' });
  expect(agentsMdOf(tempFolder(), join(folder, 'a'))).toEqual({
    folder: join(folder, 'a'),
    sources: [join(folder, 'a', 'AGENTS.md')],
    text: `From ${join(folder, 'a', 'AGENTS.md')}:\n\nINNER`,
  });
});

test('AGENTS.override.md takes the place of AGENTS.md in its own folder, also an empty one', () => {
  const home = tempFolder({ 'AGENTS.md': 'HOME', 'AGENTS.override.md': 'HOME-OVERRIDE' });
  const folder = tempRepository({
    'AGENTS.md': 'ROOT',
    'a/AGENTS.md': 'A',
    'a/AGENTS.override.md': 'A-OVERRIDE',
    'a/b/AGENTS.md': 'B',
    'a/b/AGENTS.override.md': '',
  });
  expect(agentsMdOf(home, join(folder, 'a', 'b')).sources).toEqual([
    join(home, 'AGENTS.override.md'),
    join(folder, 'AGENTS.md'),
    join(folder, 'a', 'AGENTS.override.md'),
  ]);
});

test('other file names count in order, in a project without AGENTS.md', () => {
  const home = tempFolder({ 'SECOND.md': 'HOME' });
  const folder = tempRepository({
    'FIRST.md': '1',
    'SECOND.md': '2',
    'a/AGENTS.md': 'A',
    'a/FIRST.md': '1',
    'a/b/SECOND.md': '2',
  });
  expect(
    agentsMdOf(home, join(folder, 'a', 'b'), { fallbackFileNames: ['FIRST.md', 'SECOND.md'] })
      .sources,
  ).toEqual([
    join(folder, 'FIRST.md'),
    join(folder, 'a', 'AGENTS.md'),
    join(folder, 'a', 'b', 'SECOND.md'),
  ]);
});

test('links inside the project are followed, and those of the home anywhere', () => {
  const folder = tempRepository({ 'docs/rules.md': 'RULES' });
  symlinkSync('docs/rules.md', join(folder, 'AGENTS.md'));
  const home = tempFolder();
  symlinkSync(join(tempFolder({ mine: 'MINE' }), 'mine'), join(home, 'AGENTS.md'));
  expect(agentsMdOf(home, folder)).toEqual({
    folder,
    sources: [join(home, 'AGENTS.md'), join(folder, 'AGENTS.md')],
    text: `From ${join(home, 'AGENTS.md')}:\n\nMINE\n\nFrom ${join(folder, 'AGENTS.md')}:\n\nRULES`,
  });
});

test('a cwd given through a link is the folder that it leads to', () => {
  const folder = tempRepository({ 'AGENTS.md': 'ROOT' });
  const link = join(tempFolder({ 'AGENTS.md': 'BESIDE' }), 'link');
  symlinkSync(join(folder, 'a'), link);
  expect(agentsMdOf(tempFolder(), link).sources).toEqual([join(folder, 'AGENTS.md')]);
});

test('a thread in the home itself is told once', () => {
  const home = tempFolder({ 'AGENTS.md': 'HOME' });
  expect(agentsMdOf(home, home, { projectBytesMax: 2 })).toEqual({
    folder: home,
    sources: [join(home, 'AGENTS.md')],
    text: `From ${join(home, 'AGENTS.md')}:\n\nHOME`,
  });
});

describe('the files of a project share one limit in bytes', () => {
  test('what is over it is cut, and said to be, never inside a character', () => {
    const folder = tempRepository({
      'AGENTS.md': '1234',
      'a/AGENTS.md': 'äöü',
      'a/b/AGENTS.md': 'B',
    });
    const { text, sources } = agentsMdOf(tempFolder(), join(folder, 'a', 'b'), {
      projectBytesMax: 7,
    });
    expect(sources).toEqual([join(folder, 'AGENTS.md'), join(folder, 'a', 'AGENTS.md')]);
    expect(text).toBe(
      `From ${join(folder, 'AGENTS.md')}:\n\n1234\n\nFrom ${join(folder, 'a', 'AGENTS.md')}:\n\nä\n\n[truncated after 3 of 6 bytes]`,
    );
  });

  test('0 leaves them out, and keeps that of the home', () => {
    const home = tempFolder({ 'AGENTS.md': 'HOME' });
    const folder = tempRepository({ 'AGENTS.md': 'ROOT' });
    expect(agentsMdOf(home, folder, { projectBytesMax: 0 }).sources).toEqual([
      join(home, 'AGENTS.md'),
    ]);
  });

  test('bytes that are no text do no harm', () => {
    const folder = tempRepository({ 'AGENTS.md': Buffer.from([0x61, 0xff, 0x62]) });
    expect(agentsMdOf(tempFolder(), folder).text).toContain('a\uFFFDb');
  });
});
