import { join } from 'node:path';
import type { HostileWorld } from '../hostile-world.ts';
import type { Layout } from './layout.ts';
import { oddFile } from './odd-files.ts';

const HOOK = '#!/bin/sh\n# canary\n';

/** Returns a path for `gitdir:` in a `.git` file. */
function gitdirs({ outside, home, work, temp, random }: HostileWorld): string {
  return random.pick([
    ...[
      join(outside, 'repo', '.git'),
      join(outside, 'missing'),
      '../outside/repo/.git',
      '.git',
      './.git/modules/x',
      '..',
      '.',
      '/',
    ],
    ...[
      '/dev/zero',
      '/proc/self',
      '/proc/self/fd/0',
      'a\0b',
      `/tmp/\0${outside}`,
      'x'.repeat(255),
      'x/'.repeat(3000),
      '',
      ' ',
    ],
    ...[
      home,
      work,
      temp,
      join(temp, 'git'),
      join(work, 'real-git'),
      '\u202egnp',
      'named\nworktree = x',
    ],
  ]);
}

function gitFile(world: HostileWorld, folder: string): void {
  const path = join(folder, '.git');
  if (
    !world.file(
      path,
      `gitdir: ${gitdirs(world)}\n${world.random.chance(0.2) ? 'x'.repeat(100_000) : ''}`,
    )
  )
    return;
  world.keep(path);
  if (world.random.chance(0.3)) gitFolder(world, world.at('real-git'));
}

/** Fills a folder as git does, with something odd in a few places. */
function gitFolder(world: HostileWorld, git: string): void {
  const { random } = world;
  const names = [
    'commondir',
    'HEAD',
    'config',
    'config.worktree',
    'hooks',
    'packed-refs',
    'index',
    'gitdir',
    'refs/heads/main',
    'objects',
  ];
  if (!world.folder(git)) return;
  for (let count = random.between(1, 3); count > 0; count--)
    oddFile(world, join(git, random.pick(names)));
  world.file(join(git, 'HEAD'), 'ref: refs/heads/main\n');
  world.file(join(git, 'config'), configOf(world));
  world.file(join(git, 'refs', 'heads', 'main'), `${'0'.repeat(40)}\n`);
  if (random.chance(0.5)) world.file(join(git, 'hooks', 'pre-commit'), HOOK);
  world.file(join(git, 'commondir'), `${gitdirs(world)}\n`);
}

function configOf({ random, outside, work }: HostileWorld): string {
  const path = random.pick([
    join(work, 'more.gitconfig'),
    '../more.gitconfig',
    join(outside, 'config'),
    '~/.gitconfig',
    '.',
    'config',
  ]);
  const worktree = random.pick([work, outside, '/', '..']);
  return `[core]\n\tworktree = ${worktree}\n\tfsmonitor = ./run.sh\n\thooksPath = ./hooks\n[include]\n\tpath = ${path}\n`;
}

/**
 * A repository whose hooks or settings are links to other places of the workspace, or to nothing.
 */
function linkedParts(world: HostileWorld): void {
  const { random } = world;
  const git = random.pick([world.at('.git'), world.at('sub', '.git')]);
  const name = random.pick(['hooks', 'config', 'config.worktree']);
  const target = random.pick([
    world.at('shared', name),
    world.at('missing', name),
    join(world.temp, name),
    join(world.outside, 'missing'),
  ]);
  if (!world.folder(git) || !world.link(join(git, name), target)) return;
  world.file(join(git, 'HEAD'), 'ref: refs/heads/main\n');
  world.blame(target);
  if (target.includes('/shared/')) {
    if (name === 'hooks') world.file(join(target, 'pre-commit'), HOOK);
    else world.file(target, '[core]\n');
  }
  world.keep(git, target);
}

function include(world: HostileWorld): void {
  const git = world.at('.git');
  const included = world.at('conf', 'included.gitconfig');
  if (!world.folder(git)) return;
  world.file(join(git, 'HEAD'), 'ref: refs/heads/main\n');
  world.file(
    join(git, 'config'),
    `[include]\n\tpath = ${world.random.pick([included, '../conf/included.gitconfig'])}\n`,
  );
  if (world.random.chance(0.5)) world.file(included, '[core]\n');
  world.blame(included);
  world.keep(git, included);
}

/** The files of a bare repository, some of them missing. Existing files are kept. */
function bareRepository(world: HostileWorld): void {
  const { random } = world;
  const root = random.pick([world.work, world.at('sub'), world.at('sub', 'bare.git')]);
  const parts = ['HEAD', 'config', 'objects', 'refs'].filter(() => random.chance(0.8));
  for (const name of parts) {
    const path = join(root, name);
    if (random.chance(0.15)) oddFile(world, path);
    else if (name === 'objects' || name === 'refs') world.folder(path);
    else world.file(path, name === 'HEAD' ? 'ref: refs/heads/main\n' : '[core]\n\tbare = true\n');
  }
  if (parts.length === 4) world.keep(join(root, 'config'), join(root, 'HEAD'));
}

function missingGitFolder(world: HostileWorld): void {
  const target = world.random.pick([
    world.at('made-later', 'git'),
    world.at('real-git'),
    join(world.temp, 'git'),
  ]);
  const path = world.random.pick([world.at('.git'), world.at('sub', '.git')]);
  if (!world.file(path, `gitdir: ${target}\n`)) return;
  world.blame(target);
  world.keep(path, target);
}

function mercurial(world: HostileWorld): void {
  const folder = world.random.pick([world.work, world.at('sub')]);
  if (!world.file(join(folder, '.hg', 'hgrc'), '[hooks]\n')) return;
  world.keep(join(folder, '.hg', 'hgrc'));
}

function someFolder({ random, work, temp, base }: HostileWorld): string {
  return random.pick([
    work,
    work,
    join(work, 'sub'),
    join(work, 'a', 'b', 'c'),
    join(temp, 'x'),
    base,
  ]);
}

export const GIT_LAYOUTS: readonly Layout[] = [
  { name: 'a .git file', weight: 3, make: (world) => gitFile(world, someFolder(world)) },
  {
    name: 'a .git folder with odd files',
    weight: 4,
    make: (world) => gitFolder(world, join(someFolder(world), '.git')),
  },
  { name: 'hooks or settings that are links', weight: 2, make: linkedParts },
  { name: 'an included file in the workspace', weight: 1, make: include },
  { name: 'a bare repository', weight: 2, make: bareRepository },
  { name: 'a .git file that names a missing folder', weight: 2, make: missingGitFolder },
  { name: 'mercurial', weight: 1, make: mercurial },
];
