// @module-tag slow
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Place, place, startHeddle } from './support.ts';

/**
 * How long a server may take to start a thread or a sandboxed command, whatever lies in the
 * workspace. Both take well below 1 s.
 */
const ANSWERED_MS_MAX = 10_000;
const GROWN_MB_MAX = 50;
const CONFIG = {
  'config.toml': `model = "m"\nmodel_provider = "p"\nsandbox_mode = "workspace-write"\n[model_providers.p]\nbase_url = "http://127.0.0.1:9"\n`,
};

/** A workspace with files from an archive or a command. */
function workspace(fill: (work: string) => void): Place {
  const where = place(CONFIG);
  fill(where.work);
  return where;
}

function inGitFolder(make: (path: string) => void): (work: string) => void {
  return (work) => {
    mkdirSync(join(work, '.git'));
    make(join(work, '.git', 'commondir'));
  };
}

const pipe = (path: string) => void execFileSync('mkfifo', [path]);
const endless = (path: string) => symlinkSync('/dev/zero', path);
function huge(path: string): void {
  writeFileSync(path, 'gitdir: elsewhere\n');
  truncateSync(path, 600 * 1024 * 1024);
}

describe('a server goes on with a workspace that has', () => {
  test.each<[string, (work: string) => void]>([
    ['a pipe as .git/commondir', inGitFolder(pipe)],
    ['a link to an endless device as .git/commondir', inGitFolder(endless)],
    ['600 MB of NULs as .git/commondir', inGitFolder(huge)],
    ['a NUL in .git/commondir', inGitFolder((path) => writeFileSync(path, '../a\0b\n'))],
    ['a socket as .git/HEAD', inGitFolder((path) => listenAt(path.replace('commondir', 'HEAD')))],
    ['a pipe as .git', (work) => pipe(join(work, '.git'))],
    ['a link to an endless device as .git', (work) => endless(join(work, '.git'))],
    ['a .git of 600 MB', (work) => huge(join(work, '.git'))],
    ['a NUL in the gitdir of .git', (work) => writeFileSync(join(work, '.git'), 'gitdir: a\0b\n')],
    [
      'a gitdir that is too long a name',
      (work) => writeFileSync(join(work, '.git'), `gitdir: ${'a'.repeat(5000)}\n`),
    ],
    [
      'a gitdir that leads through a file',
      (work) => writeFileSync(join(work, '.git'), 'gitdir: .git/a\n'),
    ],
    ['a pipe as AGENTS.md', (work) => pipe(join(work, 'AGENTS.md'))],
    [
      'a link to an endless device as AGENTS.override.md',
      (work) => endless(join(work, 'AGENTS.override.md')),
    ],
  ])('%s', { timeout: 2 * ANSWERED_MS_MAX }, async (_what, fill) => {
    const heddle = await startHeddle(workspace(fill));
    // All of the server is loaded then.
    await heddle.request('thread/list', {});
    const before = heddle.memory().now;
    await heddle.request('thread/start', {});
    expect(await heddle.request('command/exec', { command: ['echo', 'ran'] })).toMatchObject({
      exitCode: 0,
      stdout: 'ran\n',
    });
    expect(heddle.memory().peak - before).toBeLessThan(GROWN_MB_MAX);
  });

  test('a pipe that a command has made in the sandbox, now and after a restart', {
    timeout: 2 * ANSWERED_MS_MAX,
  }, async () => {
    const where = workspace(() => {});
    const first = await startHeddle(where);
    const made = { command: ['sh', '-c', 'mkdir -p x/.git && mkfifo x/.git/commondir'] };
    expect(await first.request('command/exec', made)).toMatchObject({ exitCode: 0 });
    expect(await first.request('command/exec', { command: ['echo', 'ran'] })).toMatchObject({
      stdout: 'ran\n',
    });
    const second = await startHeddle(where);
    expect(await second.request('command/exec', { command: ['echo', 'ran'] })).toMatchObject({
      stdout: 'ran\n',
    });
  });
});

/** Leaves a socket at the path, which nothing listens on. */
function listenAt(path: string): void {
  execFileSync('python3', ['-c', `import socket; socket.socket(socket.AF_UNIX).bind("${path}")`]);
}
