import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROTECTED_NAMES } from '../../../../src/policy/permissions/sandbox-bounds.ts';
import type { HostileWorld } from '../hostile-world.ts';
import type { Layout } from './layout.ts';

const DEPTH = 900;
const WIDTH = 5000;

function manyNested(world: HostileWorld): void {
  const { random } = world;
  const name = random.pick(PROTECTED_NAMES);
  const count = random.pick([99, 101, 300]);
  for (let index = 0; index < count; index++)
    mkdirSync(world.at('many', `n${index}`, name), { recursive: true });
  world.blame(world.at('many'), world.work);
}

/** More names than a search with a limit finds, and one repository behind them that matters. */
function decoys(world: HostileWorld): void {
  for (let index = 0; index < 101; index++)
    mkdirSync(world.at(`decoy${index}`, '.git'), { recursive: true });
  const hook = world.at('z', 'deep', 'deeper', 'real', '.git', 'hooks', 'pre-commit');
  world.file(hook, '#!/bin/sh\n# canary\n');
  world.keep(hook);
  world.blame(world.work);
}

function nestedDeep(world: HostileWorld): void {
  const { random } = world;
  const [depth, count] = random.pick([[31, 100] as const, [DEPTH, 3] as const, [200, 20] as const]);
  const folder = world.at(...Array.from({ length: depth }, () => 'd'));
  for (let index = 0; index < count; index++)
    mkdirSync(join(folder, `n${index}`, random.pick(PROTECTED_NAMES)), { recursive: true });
  world.blame(world.at('d'), world.work);
}

/** Names at every level: each needs a mount of its own, and so does each folder above it. */
function nestedAtEachLevel(world: HostileWorld): void {
  let folder = world.at('level');
  for (let depth = 0; depth < 60; depth++, folder = join(folder, 'l'))
    mkdirSync(join(folder, '.agents'), { recursive: true });
  world.blame(world.at('level'), world.work);
}

function wide(world: HostileWorld): void {
  const folder = world.random.pick([world.work, world.at('wide')]);
  mkdirSync(folder, { recursive: true });
  for (let index = 0; index < WIDTH; index++) {
    if (index % 10 === 0) mkdirSync(join(folder, `w${index}`), { recursive: true });
    else writeFileSync(join(folder, `w${index}`), '');
  }
  world.blame(folder);
}

/** A path longer than the system takes in one call. Node cannot make it, so a shell does. */
function longPath(world: HostileWorld): void {
  const script =
    'i=0; while [ $i -lt 17 ]; do mkdir "$2" && cd -P "$2" || exit 0; i=$((i+1)); done; mkdir "$1"';
  const name = 'p'.repeat(world.random.pick([240, 255]));
  execFileSync('/bin/sh', ['-c', script, 'sh', world.random.pick(PROTECTED_NAMES), name], {
    cwd: world.work,
    stdio: 'ignore',
  });
  world.blame(world.at(name), world.work);
}

function large(world: HostileWorld): void {
  const names = [
    '.git',
    '.git/config',
    '.git/commondir',
    '.git/HEAD',
    '.git/packed-refs',
    'AGENTS.md',
    '.agents/skills/x/SKILL.md',
    'a.png',
  ];
  world.large(world.at(world.random.pick(names)), world.random.pick(['', 'gitdir: ', 'ref: ']));
}

export const SIZE_LAYOUTS: readonly Layout[] = [
  { name: 'many nested names', weight: 0.3, make: manyNested },
  { name: 'decoys', weight: 0.2, make: decoys },
  { name: 'deep names', weight: 0.3, make: nestedDeep },
  { name: 'names at each level', weight: 0.2, make: nestedAtEachLevel },
  { name: 'a wide tree', weight: 0.1, make: wide },
  { name: 'a long path', weight: 0.3, make: longPath },
  { name: 'a large file', weight: 1, make: large },
];
