import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filterNames } from '../../src/git/safe-git-env.ts';
import { tempFolder, writeFiles } from '../config/temp-folder.ts';
import { startServer } from '../support/test-server.ts';

const WHO = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'init.defaultBranch=main'];

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', [...WHO, ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
}

/** A repository with a commit that its remote has, `a` in it, and the server's client. */
async function pushed() {
  const { client } = await startServer();
  const folder = tempFolder({ 'w/a': 'one\n', 'w/sub/b': 'b\n' });
  const [work, remote] = [join(folder, 'w'), join(folder, 'remote.git')];
  git(folder, 'init', '-q', '--bare', remote);
  git(work, 'init', '-q');
  git(work, 'add', '.');
  git(work, 'commit', '-q', '-m', '1');
  git(work, 'remote', 'add', 'origin', remote);
  git(work, 'push', '-q', 'origin', 'main');
  return { client, folder, work, sha: git(work, 'rev-parse', 'HEAD') };
}

test('gitDiffToRemote: without changes, the diff is empty', async () => {
  const { client, work, sha } = await pushed();
  expect(await client.request('gitDiffToRemote', { cwd: work })).toEqual({ sha, diff: '' });
});

test('gitDiffToRemote: the diff has commits, changes and untracked files, text and binary, and can be applied', async () => {
  const { client, folder, work, sha } = await pushed();
  git(work, 'checkout', '-q', '-b', 'feature');
  writeFiles(work, { a: 'two\n', staged: 's\n' });
  git(work, 'commit', '-q', '-am', '2');
  git(work, 'add', 'staged');
  writeFiles(work, {
    'sub/b': 'c\n',
    '-new "file"': 'n\n',
    empty: '',
    noeol: 'x',
    '.gitignore': 'ignored\n',
    ignored: 'no\n',
  });
  writeFileSync(join(work, 'binary'), Buffer.from([0, 1, 2, 255]));
  symlinkSync('a', join(work, 'link'));
  mkdirSync(join(work, 'nested'));
  git(join(work, 'nested'), 'init', '-q');
  const found = await client.request('gitDiffToRemote', { cwd: join(work, 'sub') });
  expect(found.sha).toBe(sha);
  const copy = join(folder, 'copy');
  git(folder, 'clone', '-q', join(folder, 'remote.git'), copy);
  writeFileSync(join(folder, 'diff'), found.diff);
  git(copy, 'apply', join(folder, 'diff'));
  const treeOf = (cwd: string) => {
    git(cwd, 'add', '-A', '--', '.', ':!nested');
    return git(cwd, 'write-tree');
  };
  expect(treeOf(copy)).toBe(treeOf(work));
  git(work, 'push', '-q', 'origin', 'feature');
  expect((await client.request('gitDiffToRemote', { cwd: work })).sha).toBe(
    git(work, 'rev-parse', 'HEAD'),
  );
});

test('gitDiffToRemote: commits of a local branch that is the upstream are in the diff', async () => {
  const { client, work, sha } = await pushed();
  writeFileSync(join(work, 'a'), 'two\n');
  git(work, 'commit', '-q', '-a', '-m', '2');
  git(work, 'checkout', '-q', '-b', 'feature', '--track', 'main');
  const answer = await client.request('gitDiffToRemote', { cwd: work });
  expect(answer).toEqual({ sha, diff: expect.stringContaining('+two') as string });
});

test('gitDiffToRemote is refused without a repository, a remote, a commit, or an absolute path, and if the diff is too long', async () => {
  const { client, folder, work } = await pushed();
  const alone = tempFolder({ 'a.txt': 'a' });
  const refused = async (cwd: string) =>
    (await client.refusal('gitDiffToRemote', { cwd })).data.code;
  const expected = 'no_diff_to_remote';
  expect([
    await refused(alone),
    await refused(join(folder, 'nowhere')),
    await refused(join(work, '.git')),
  ]).toEqual([expected, expected, expected]);
  git(alone, 'init', '-q');
  expect(await refused(alone)).toBe(expected);
  git(alone, 'add', '.');
  git(alone, 'commit', '-q', '-m', '1');
  expect(await refused(alone)).toBe(expected);
  expect(await refused('relative')).toBe('invalid_params');
  writeFileSync(join(work, 'large'), `${'x'.repeat(99)}\n`.repeat(90_000));
  expect(await client.refusal('gitDiffToRemote', { cwd: work })).toMatchObject({
    code: -32600,
    message: expect.stringContaining('it has more than 8 MiB') as string,
  });
});

describe('a repository that anyone may have made', () => {
  test('runs no program: its settings and attributes change nothing in the diff', async () => {
    const { client, folder, work } = await pushed();
    writeFiles(work, { a: 'two\n', new: 'n\n' });
    const before = await client.request('gitDiffToRemote', { cwd: work });
    const ran = join(folder, 'ran');
    const program = `echo ran >> ${ran}; echo ran;`;
    for (const key of [
      'core.fsmonitor',
      'core.sshCommand',
      'core.pager',
      'diff.external',
      'diff.x.textconv',
      'diff.x.command',
    ])
      git(work, 'config', key, program);
    for (const key of [
      'filter.f.clean',
      'filter.f.process',
      'filter.g.x.clean',
      'credential.helper',
    ])
      git(work, 'config', key, program);
    git(work, 'config', 'filter.f.required', 'true');
    git(work, 'config', 'core.worktree', folder);
    git(work, 'config', 'diff.noprefix', 'true');
    writeFiles(work, {
      '.git/info/attributes': 'a diff=x filter=f\nnew diff=x filter=g.x\n',
      '.git/hooks/post-index-change': program,
    });
    expect(await client.request('gitDiffToRemote', { cwd: work })).toEqual(before);
    expect(existsSync(ran)).toBe(false);
  });

  test('is asked for no missing object: it fails', async () => {
    const { client, folder, work, sha } = await pushed();
    const ran = join(folder, 'ran');
    const tree = git(work, 'rev-parse', `${sha}:a`);
    execFileSync('rm', ['-f', join(work, '.git/objects', tree.slice(0, 2), tree.slice(2))]);
    writeFiles(work, { a: 'two\n' });
    git(work, 'config', 'extensions.partialClone', 'origin');
    git(work, 'config', 'remote.origin.promisor', 'true');
    git(work, 'config', 'remote.origin.uploadpack', `touch ${ran}; git-upload-pack`);
    git(work, 'config', 'protocol.allow', 'always');
    expect((await client.refusal('gitDiffToRemote', { cwd: work })).data.code).toBe(
      'no_diff_to_remote',
    );
    expect(existsSync(ran)).toBe(false);
  });

  test('has a filter that no setting of every git can switch off: it is refused', async () => {
    const { client, work } = await pushed();
    git(work, 'config', "filter.it's !.clean", 'cat');
    await client.request('gitDiffToRemote', { cwd: work });
    git(work, 'config', 'filter.a=b.clean', 'cat');
    expect(await client.refusal('gitDiffToRemote', { cwd: work })).toMatchObject({
      message: expect.stringContaining(
        'its configuration has the filter "a=b", which heddle cannot switch off',
      ) as string,
      data: { code: 'no_diff_to_remote' },
    });
  });

  test('has filters with any names', () => {
    expect(
      filterNames([
        'filter.a.clean',
        'filter.a.smudge',
        'filter.b.c.process',
        'filter.x\ny.required',
        'core.bare',
        'filter.clean',
      ]),
    ).toEqual(['a', 'b.c', 'x\ny']);
  });
});
