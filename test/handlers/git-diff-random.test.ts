import { execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tempFolder } from '../config/temp-folder.ts';
import { runs } from '../support/runs.ts';
import { startServer } from '../support/test-server.ts';

const WHO = [
  '-c',
  'user.name=a',
  '-c',
  'user.email=a@b',
  '-c',
  'init.defaultBranch=main',
  '-c',
  'protocol.file.allow=always',
];
const FORMAT = [
  '--no-color',
  '--binary',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--ignore-submodules=dirty',
  '--submodule=short',
];

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', [...WHO, ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/**
 * Names that shells, xargs, printf, the formats of git and its list of paths could read otherwise.
 */
const NAMES = [
  '-',
  '--',
  '-n',
  '%s',
  '\\000',
  "it's",
  '"q"',
  'a b',
  ' ',
  'a\nb',
  'a\tb',
  '*',
  '[a]',
  ':(top)x',
  '$HOME',
  '`id`',
  '~',
  'é',
  '#',
  '!x',
];
const KINDS = [
  'text',
  'other text',
  'empty',
  'binary',
  'no end',
  'program',
  'link',
  'link to folder',
  'dangling link',
  'folder',
  'nothing',
] as const;

interface Change {
  path: string;
  kind: (typeof KINDS)[number];
  /** The change of the index: none, it gets the file, or it loses it. */
  index: 'none' | 'add' | 'remove';
}

const anyChange = fc.record<Change>({
  path: fc
    .array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 })
    .map((names) => names.join('/')),
  kind: fc.constantFrom(...KINDS),
  index: fc.constantFrom('none', 'none', 'add', 'remove'),
});

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Makes what the change says, in place of what is there. */
function make(root: string, { path, kind }: Change): void {
  const at = join(root, path);
  const above = path.split('/').slice(0, -1);
  for (const [index] of above.entries()) {
    const folder = join(root, ...above.slice(0, index + 1));
    if (!isFolder(folder)) rmSync(folder, { force: true });
  }
  rmSync(at, { recursive: true, force: true });
  if (kind === 'nothing') return;
  mkdirSync(dirname(at), { recursive: true });
  if (kind === 'link') symlinkSync('a', at);
  else if (kind === 'link to folder') symlinkSync('..', at);
  else if (kind === 'dangling link') symlinkSync('no\nwhere', at);
  else if (kind === 'folder') {
    mkdirSync(at);
    writeFileSync(join(at, '-'), 'in a folder\n');
  } else {
    const content = {
      text: 'one\ntwo\n',
      'other text': 'one\n2\n',
      empty: '',
      binary: '\0\u0001',
      'no end': 'x',
      program: '#!/bin/sh\n',
    }[kind];
    writeFileSync(at, content);
    if (kind === 'program') chmodSync(at, 0o755);
  }
}

function change(root: string, changes: readonly Change[]): void {
  for (const each of changes) {
    make(root, each);
    if (each.index === 'remove')
      git(root, 'rm', '-rqf', '--cached', '--ignore-unmatch', '--', `:(literal)${each.path}`);
    if (each.index === 'add') git(root, 'add', '-A', '--', '.');
  }
}

/** A repository whose remote has one commit with these files. */
function pushed(folder: string, changes: readonly Change[]): { work: string; sha: string } {
  const [work, remote] = [join(folder, 'w'), join(folder, 'remote.git')];
  mkdirSync(work);
  git(folder, 'init', '-q', '--bare', remote);
  git(work, 'init', '-q');
  writeFileSync(join(work, '.gitignore'), '*.ignored\n');
  for (const each of changes) make(work, each);
  git(work, 'add', '-A');
  git(work, 'commit', '-q', '-m', '1');
  git(work, 'remote', 'add', 'origin', remote);
  git(work, 'push', '-q', 'origin', 'main');
  return { work, sha: git(work, 'rev-parse', 'HEAD').trim() };
}

/**
 * The diff that git itself shows of the working tree, once everything in a copy of it is in the
 * index, except `leftOut`.
 */
function diffByGit(
  { work, sha }: { work: string; sha: string },
  leftOut: readonly string[] = [],
): string {
  const copy = `${work}-copy`;
  execFileSync('cp', ['-a', work, copy]);
  for (const name of leftOut) rmSync(join(copy, name), { recursive: true, force: true });
  git(copy, 'add', '-A');
  const diff = git(copy, 'diff', '--cached', ...FORMAT, sha, '--');
  rmSync(copy, { recursive: true });
  return diff;
}

test('gitDiffToRemote shows any working tree as git does with everything in its index, and changes nothing in it', {
  tags: 'seeded',
  timeout: 120_000,
}, async () => {
  const { client } = await startServer();
  const changes = fc.array(anyChange, { maxLength: 12 });
  const property = fc.asyncProperty(changes, changes, async (before, after) => {
    const repository = pushed(tempFolder(), before);
    const { work, sha } = repository;
    change(work, after);
    const files = execFileSync('find', ['.git', '-type', 'f', '-printf', '%p %T@ %s\\n'], {
      cwd: work,
      encoding: 'utf8',
    });
    expect(await client.request('gitDiffToRemote', { cwd: work })).toEqual({
      sha,
      diff: diffByGit(repository),
    });
    expect(
      execFileSync('find', ['.git', '-type', 'f', '-printf', '%p %T@ %s\\n'], {
        cwd: work,
        encoding: 'utf8',
      }),
    ).toBe(files);
  });
  await fc.assert(property, { numRuns: runs(20, 3), endOnFailure: true });
});

test('gitDiffToRemote shows new commits of submodules, and leaves out nested repositories and what git cannot track', async () => {
  const { client } = await startServer();
  const folder = tempFolder();
  const inner = pushed(tempFolder(), [{ path: 'a', kind: 'text', index: 'none' }]);
  const { work } = pushed(folder, []);
  git(work, 'submodule', '-q', 'add', inner.work, 'sub');
  git(work, 'commit', '-q', '-m', '2');
  git(work, 'push', '-q', 'origin', 'main');
  const sha = git(work, 'rev-parse', 'HEAD').trim();
  git(join(work, 'sub'), 'commit', '-q', '--allow-empty', '-m', '2');
  writeFileSync(join(work, 'sub', 'dirty'), 'x');
  git(work, 'clone', '-q', inner.work, 'nested');
  mkdirSync(join(work, 'empty repository'));
  git(join(work, 'empty repository'), 'init', '-q');
  mkdirSync(join(work, 'b/.GIT'), { recursive: true });
  writeFileSync(join(work, 'b/.GIT/config'), 'x');
  writeFileSync(join(work, 'x.ignored'), 'x');
  writeFileSync(join(work, 'b/-'), 'new\n');
  writeFileSync(Buffer.concat([Buffer.from(join(work, 'f')), Buffer.from([0xff])]), 'new\n');
  execFileSync('mkfifo', [join(work, 'pipe')]);
  const leftOut = ['nested', 'empty repository', 'b/.GIT', 'pipe'];
  const diff = diffByGit({ work, sha }, leftOut);
  // The name of another system's git folder is a file like others, which git does not add by
  // default.
  writeFileSync(join(work, 'git~1'), '');
  expect(await client.request('gitDiffToRemote', { cwd: work })).toEqual({
    sha,
    diff: diff.replace(
      'diff --git a/sub b/sub',
      'diff --git a/git~1 b/git~1\nnew file mode 100644\nindex 0000000..e69de29\ndiff --git a/sub b/sub',
    ),
  });
});

test('gitDiffToRemote starts as many git processes for many untracked files as for one', async () => {
  const folder = tempFolder();
  const repository = pushed(join(folder), []);
  const programs = join(folder, 'programs');
  mkdirSync(programs);
  const count = 'starts=/dev/shm/starts; echo >>$starts; [ $(wc -l <$starts) -le 12 ] || exit 1';
  writeFileSync(join(programs, 'git'), `#!/bin/sh\n${count}\nexec /usr/bin/git "$@"\n`, {
    mode: 0o755,
  });
  const { client } = await startServer({ env: { PATH: `${programs}:/usr/bin:/bin` } });
  for (let index = 0; index < 2_000; index++)
    writeFileSync(join(repository.work, `new ${index}`), `${index}\n`);
  const { diff } = await client.request('gitDiffToRemote', { cwd: repository.work });
  expect(diff).toBe(diffByGit(repository));
});
