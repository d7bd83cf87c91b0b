import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readGitInfo } from '../../src/git/read-git-info.ts';
import { tempFolder, writeFiles } from '../config/temp-folder.ts';

const gitInfoOf = (cwd: string) => readGitInfo(cwd);
const UNKNOWN = { sha: null, branch: null, originUrl: null };

function git(cwd: string, ...args: string[]): string {
  const identity = [
    '-c',
    'user.name=n',
    '-c',
    'user.email=e@example.com',
    '-c',
    'commit.gpgsign=false',
  ];
  return execFileSync('git', [...identity, ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

function repository(...commands: string[][]): string {
  const folder = tempFolder();
  git(folder, 'init', '-q', '-b', 'main');
  for (const command of commands) git(folder, ...command);
  return folder;
}

const COMMIT = ['commit', '-q', '--allow-empty', '-m', 'c'];

describe('unknown values are null', () => {
  test('outside of a repository', async () => {
    expect(await gitInfoOf(tempFolder())).toBe(null);
  });

  test.each([
    ['a .git folder that is not a repository', () => tempFolder({ '.git/x': '' })],
    ['a .git file that leads nowhere', () => tempFolder({ '.git': 'gitdir: /nowhere' })],
    ['a .git file that names no folder', () => tempFolder({ '.git': 'x' })],
    ['a damaged HEAD', () => tempFolder({ '.git/HEAD': '\0\0' })],
    [
      'a HEAD that leads out of the refs',
      () => tempFolder({ '.git/HEAD': 'ref: refs/heads/../../../x', x: 'a'.repeat(40) }),
    ],
    [
      'a HEAD that does not name a ref',
      () => tempFolder({ '.git/HEAD': 'ref: config', '.git/config': 'a'.repeat(40) }),
    ],
    ['a HEAD that is a folder', () => tempFolder({ '.git/HEAD/x': '' })],
    [
      'a HEAD without end',
      () => tempFolder({ '.git/HEAD': `ref: refs/heads/${'x'.repeat(100_000)}` }),
    ],
  ])('%s', async (_, make) => {
    expect(await gitInfoOf(make())).toEqual(UNKNOWN);
  });

  test('pipes in place of files, without waiting for them', async () => {
    const folder = tempFolder({ '.git/refs/heads/x': '' });
    for (const name of ['HEAD', 'config', 'packed-refs'])
      execFileSync('mkfifo', [join(folder, '.git', name)]);
    expect(await gitInfoOf(folder)).toEqual(UNKNOWN);
  });

  test('a repository without a commit, and without a remote', async () => {
    expect(await gitInfoOf(repository())).toEqual({ sha: null, branch: 'main', originUrl: null });
  });

  test('the branch of a detached HEAD', async () => {
    const folder = repository(COMMIT, ['checkout', '-q', '--detach']);
    expect(await gitInfoOf(folder)).toEqual({
      sha: git(folder, 'rev-parse', 'HEAD'),
      branch: null,
      originUrl: null,
    });
  });

  test('refs that form a circle', async () => {
    const folder = tempFolder({
      '.git/HEAD': 'ref: refs/heads/a',
      '.git/refs/heads/a': 'ref: refs/heads/b',
      '.git/refs/heads/b': 'ref: refs/heads/a',
    });
    expect(await gitInfoOf(folder)).toEqual({ sha: null, branch: 'a', originUrl: null });
  });
});

test('commit, branch and remote, also from a folder below', async () => {
  const folder = repository(
    COMMIT,
    ['checkout', '-q', '-b', 'topic/x'],
    ['remote', 'add', 'origin', 'https://example.com/x.git'],
  );
  writeFiles(folder, { 'a/b': '' });
  const info = {
    sha: git(folder, 'rev-parse', 'HEAD'),
    branch: 'topic/x',
    originUrl: 'https://example.com/x.git',
  };
  expect(await gitInfoOf(folder)).toEqual(info);
  expect(await gitInfoOf(join(folder, 'a'))).toEqual(info);
});

test.each([
  ['https://user:token@example.com/x.git', 'https://example.com/x.git'],
  ['https://token@example.com/x.git', 'https://example.com/x.git'],
  ['ssh://git:pw@example.com:22/x.git', 'ssh://git@example.com:22/x.git'],
  ['git@example.com:x/y.git', 'git@example.com:x/y.git'],
  ['../relative', '../relative'],
  ['http://us er:to ken@exa mple/x', 'http://exa mple/x'],
])('the remote %s is told as %s', async (remote, told) => {
  const folder = repository(['config', 'remote.origin.url', remote]);
  expect((await gitInfoOf(folder))?.originUrl).toBe(told);
});

test('packed refs, worktrees and submodules are read as git reads them', async () => {
  const folder = repository(
    COMMIT,
    ['checkout', '-q', '-b', 'topic'],
    ['commit', '-q', '--allow-empty', '-m', 'd'],
    ['pack-refs', '--all'],
  );
  const tree = join(tempFolder(), 'tree');
  git(folder, 'worktree', 'add', '-q', tree, 'main');
  expect(await gitInfoOf(folder)).toMatchObject({
    sha: git(folder, 'rev-parse', 'HEAD'),
    branch: 'topic',
  });
  expect(await gitInfoOf(tree)).toMatchObject({
    sha: git(tree, 'rev-parse', 'HEAD'),
    branch: 'main',
  });
  git(
    folder,
    '-c',
    'protocol.file.allow=always',
    'submodule',
    '--quiet',
    'add',
    repository(COMMIT),
    'sub',
  );
  const sub = join(folder, 'sub');
  expect(await gitInfoOf(sub)).toEqual({
    sha: git(sub, 'rev-parse', 'HEAD'),
    branch: 'main',
    originUrl: git(sub, 'config', 'remote.origin.url'),
  });
});

test.each([
  ['[remote "origin"]\nurl = one\n[remote "other"]\nurl = two\n', 'one'],
  ['[remote "origin"] url = on-the-same-line\n', 'on-the-same-line'],
  ['[REMOTE "origin"]\n\tURL=x # comment\n\turl = "a;b" ; comment\n', 'a;b'],
  ['[remote "Origin"]\nurl = x\n', null],
  ['[remote.origin]\nurl = the-older-form\n', 'the-older-form'],
  ['[remote "origin"]\nurl = a\\\nb\n', 'ab'],
  ['[remote "origin"]\nurl\nurlx = 1\n', null],
  [`[remote "origin"]\nurl = ${'x'.repeat(200_000)}\n`, null],
  [`[remote "origin"]\nurl = ${'x'.repeat(200_000)}\nurl = last\n`, 'last'],
  ['[include]\npath = ../other\n[remote "origin"]\nurl =\n', null],
])('of the settings %.80j the remote is %j', async (config, url) => {
  const folder = tempFolder({
    '.git/HEAD': '',
    '.git/config': config,
    other: '[remote "origin"]\nurl = included\n',
  });
  expect((await gitInfoOf(folder))?.originUrl ?? null).toBe(url);
});

describe('a hostile repository', () => {
  test('gets none of its programs run', async () => {
    const folder = repository(COMMIT);
    const mark = join(folder, 'mark');
    const run = join(folder, 'run');
    writeFiles(folder, {
      run: `#!/bin/sh\ntouch ${mark}\n`,
      git: `#!/bin/sh\ntouch ${mark}\n`,
      '.gitattributes': '* filter=x diff=x\n',
    });
    for (const name of ['run', 'git']) chmodSync(join(folder, name), 0o755);
    for (const key of [
      'core.fsmonitor',
      'core.sshCommand',
      'core.pager',
      'credential.helper',
      'diff.external',
      'filter.x.clean',
      'alias.rev-parse',
    ])
      git(folder, 'config', key, key.startsWith('alias') ? `!${run}` : run);
    git(folder, 'config', 'core.hooksPath', folder);
    expect(await gitInfoOf(folder)).toMatchObject({ branch: 'main' });
    expect(existsSync(mark)).toBe(false);
  });

  test('does not show the data of another repository', async () => {
    const other = repository(COMMIT, [
      'remote',
      'add',
      'origin',
      'https://example.com/private.git',
    ]);
    const lead = tempFolder({ '.git': `gitdir: ${join(other, '.git')}` });
    const link = tempFolder();
    symlinkSync(join(other, '.git'), join(link, '.git'));
    for (const folder of [lead, link]) expect(await gitInfoOf(folder)).toEqual(UNKNOWN);
    const linked = tempFolder({ '.git/HEAD': 'ref: refs/heads/main' });
    symlinkSync(join(other, '.git', 'config'), join(linked, '.git', 'config'));
    symlinkSync(join(other, '.git', 'refs'), join(linked, '.git', 'refs'));
    expect(await gitInfoOf(linked)).toEqual({ sha: null, branch: 'main', originUrl: null });
  });

  test('that is bare in a folder is not one', async () => {
    const folder = tempFolder();
    git(folder, 'init', '-q', '--bare');
    expect(await gitInfoOf(folder)).toBe(null);
  });
});
