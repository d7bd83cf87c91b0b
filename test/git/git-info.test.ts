import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readGitInfo } from '../../src/git/git-info.ts';
import { tempFolder, writeFiles } from '../config/temp-folder.ts';

const ENV = { PATH: process.env.PATH };
const never = () => new AbortController().signal;
const read = (cwd: string, env: Record<string, string | undefined> = ENV) => readGitInfo({ cwd, env }, never());

function git(cwd: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=n', '-c', 'user.email=e@example.com', '-c', 'commit.gpgsign=false'];
  return execFileSync('git', [...identity, ...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

function repository(...commands: string[][]): string {
  const folder = tempFolder();
  git(folder, 'init', '-q', '-b', 'main');
  for (const command of commands) git(folder, ...command);
  return folder;
}

const COMMIT = ['commit', '-q', '--allow-empty', '-m', 'c'];

/** A program called git that leaves a mark; its folder is the PATH. */
function fakeGit(script: string): { PATH: string; mark: string } {
  const folder = tempFolder({ git: `#!/bin/sh\n${script}\n` });
  chmodSync(join(folder, 'git'), 0o755);
  return { PATH: `${folder}:/bin:/usr/bin`, mark: join(folder, 'mark') };
}

describe('what git cannot tell is null', () => {
  test('outside of a repository nothing is even started', async () => {
    const { PATH, mark } = fakeGit('touch "$(dirname "$0")/mark"');
    expect(await read(tempFolder(), { PATH })).toBe(null);
    expect(existsSync(mark)).toBe(false);
  });

  test.each([
    ['a .git that is none', () => tempFolder({ '.git/x': '' })],
    ['a .git file that leads nowhere', () => tempFolder({ '.git': 'gitdir: /nowhere' })],
    ['a damaged HEAD', () => tempFolder({ '.git/HEAD': '\0\0' })],
  ])('%s', async (_, make) => {
    expect(await read(make())).toEqual({ sha: null, branch: null, originUrl: null });
  });

  test('no git on the PATH', async () => {
    expect(await read(repository(COMMIT), { PATH: tempFolder() })).toEqual({ sha: null, branch: null, originUrl: null });
  });

  test('a git that fails, or floods', async () => {
    expect(await read(repository(), { PATH: fakeGit('exit 3').PATH })).toEqual({ sha: null, branch: null, originUrl: null });
    expect(await read(repository(), { PATH: fakeGit('exec yes').PATH })).toEqual({ sha: null, branch: null, originUrl: null });
  });

  test('a git that hangs is killed', async () => {
    const { PATH } = fakeGit('exec sleep 60');
    expect(await read(repository(), { PATH })).toEqual({ sha: null, branch: null, originUrl: null });
  });

  test('an abort ends it', async () => {
    const { PATH } = fakeGit('exec sleep 60');
    const aborted = AbortSignal.abort();
    expect(await readGitInfo({ cwd: repository(), env: { PATH } }, aborted)).toEqual({ sha: null, branch: null, originUrl: null });
  });

  test('a repository without a commit, and without a remote', async () => {
    expect(await read(repository())).toEqual({ sha: null, branch: 'main', originUrl: null });
  });

  test('the branch of a detached HEAD', async () => {
    const folder = repository(COMMIT, ['checkout', '-q', '--detach']);
    expect(await read(folder)).toEqual({ sha: git(folder, 'rev-parse', 'HEAD'), branch: null, originUrl: null });
  });
});

test('commit, branch and remote, also from a folder below', async () => {
  const folder = repository(COMMIT, ['checkout', '-q', '-b', 'topic/x'], ['remote', 'add', 'origin', 'https://example.com/x.git']);
  writeFiles(folder, { 'a/b': '' });
  const info = { sha: git(folder, 'rev-parse', 'HEAD'), branch: 'topic/x', originUrl: 'https://example.com/x.git' };
  expect(await read(folder)).toEqual(info);
  expect(await read(join(folder, 'a'))).toEqual(info);
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
  expect((await read(folder))?.originUrl).toBe(told);
});

test('git sees no variables but its own few', async () => {
  const { PATH, mark } = fakeGit('env > "$(dirname "$0")/mark"');
  await read(repository(), { PATH, HOME: '/h', SECRET: 's', GIT_DIR: '/x', GIT_EXTERNAL_DIFF: 'x' });
  const names = readFileSync(mark, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('=')[0]);
  expect(names.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name ?? '')).sort()).toEqual([
    'GIT_TERMINAL_PROMPT',
    'HOME',
    'LC_ALL',
    'PATH',
  ]);
});

test('a relative entry of PATH does not find a git in the repository', async () => {
  const folder = repository(COMMIT);
  writeFiles(folder, { git: '#!/bin/sh\ntouch mark\n' });
  chmodSync(join(folder, 'git'), 0o755);
  expect((await read(folder, { PATH: `.:${process.env.PATH}` }))?.branch).toBe('main');
  expect(existsSync(join(folder, 'mark'))).toBe(false);
});
