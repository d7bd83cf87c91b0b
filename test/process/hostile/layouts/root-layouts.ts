import { chmodSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { HostileWorld } from '../hostile-world.ts';
import type { Layout } from './layout.ts';
import { oddFile } from './odd-files.ts';

/** A writable root inside the workspace that is absent, or something other than a folder. */
function rootInside(world: HostileWorld): void {
  const { random } = world;
  const root = world.at(random.pick(['build', 'sub/build', 'a/b/c/build']));
  world.roots.push(root);
  world.blame(root);
  if (random.chance(0.5)) oddFile(world, root);
  else if (random.chance(0.3)) world.folder(join(root, '.git'));
}

/** A workspace that is a link, or that has a link in its path. */
function linkedWorkspace(world: HostileWorld): void {
  const { random } = world;
  const link = random.pick([join(world.base, 'link'), world.at('self')]);
  const target = random.pick([world.work, '.', 'work', world.at('sub')]);
  mkdirSync(world.at('sub'), { recursive: true });
  if (!world.link(link, target)) return;
  world.cwd = link;
  world.blame(link);
}

/** The heddle home by another name, or as part of a writable root. */
function homeInReach(world: HostileWorld): void {
  const { random, home } = world;
  world.link(world.at('home'), home);
  world.link(world.at('.codex'), home);
  if (random.chance(0.5)) world.roots.push(random.pick([dirname(home), home, world.at('home')]));
  world.blame(home);
}

function sharedTemp(world: HostileWorld): void {
  const name = world.random.pick(['.git', '.codex', '.agents', 'AGENTS.md']);
  oddFile(world, join(world.temp, world.random.pick(['x', '.', 'y']), name));
  oddFile(
    world,
    join(world.temp, 'x', '.git', world.random.pick(['commondir', 'HEAD', 'config', 'hooks'])),
  );
}

function closedRoot(world: HostileWorld): void {
  const root = join(world.base, 'closed');
  mkdirSync(root);
  oddFile(world, join(root, '.git'));
  chmodSync(root, 0o000);
  world.roots.push(root);
}

export const ROOT_LAYOUTS: readonly Layout[] = [
  { name: 'a writable root inside the workspace', weight: 3, make: rootInside },
  { name: 'a workspace that is a link', weight: 1, make: linkedWorkspace },
  { name: 'the home in reach', weight: 1, make: homeInReach },
  { name: 'a shared folder', weight: 3, make: sharedTemp },
  { name: 'a closed writable root', weight: 0.5, make: closedRoot },
];
