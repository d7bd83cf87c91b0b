import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROTECTED_NAMES } from '../../../../src/policy/permissions/sandbox-bounds.ts';
import type { HostileWorld } from '../hostile-world.ts';
import type { Layout } from './layout.ts';
import { oddFile } from './odd-files.ts';

function oddProtectedName(world: HostileWorld): void {
  const { random, work, temp, base } = world;
  const folder = random.pick([
    work,
    work,
    work,
    join(work, 'sub'),
    join(work, 'a', 'b', 'c'),
    join(temp, 'x'),
    temp,
    base,
  ]);
  const path = join(folder, random.pick(PROTECTED_NAMES));
  if (oddFile(world, path) && folder === work) world.keep(path);
}

/** A folder with the name of the marks that heddle leaves in its own guards. */
function guardLookalike(world: HostileWorld): void {
  const { random } = world;
  const name = `held-for-sandbox-${random.pick(['1', '4026531836', '0'])}-${random.pick(['1', '999999'])}-0badcafe`;
  const guard = world.at(random.pick(PROTECTED_NAMES));
  if (world.folder(join(guard, name))) world.guards.add(guard);
}

function oddInstructions(world: HostileWorld): void {
  const names = [
    'AGENTS.md',
    'AGENTS.override.md',
    '.agents/skills/x/SKILL.md',
    '.agents/skills',
    '.codex/config.toml',
    '.codex/rules',
  ];
  for (let count = world.random.between(1, 3); count > 0; count--)
    oddFile(world, world.at(world.random.pick(names)));
  if (world.random.chance(0.2)) oddFile(world, join(world.base, 'AGENTS.md'));
}

/** A protected link can only be protected by its folder, which here has many entries. */
function linkAmongMany(world: HostileWorld): void {
  const { random } = world;
  const folder = random.pick([world.work, world.at('sub')]);
  world.link(
    join(folder, random.pick(PROTECTED_NAMES)),
    random.pick(['real', world.outside, 'missing', '/dev/zero']),
  );
  const count = random.pick([50, 300, 600]);
  for (let index = 0; index < count; index++) writeFileSync(join(folder, `entry${index}`), '');
  world.blame(folder);
}

function oddNames(world: HostileWorld): void {
  const { random } = world;
  const names = [
    ...[
      '-rf',
      '--help',
      '--bind',
      '-',
      '\n',
      'new\nline',
      'tab\t',
      'quote\'"',
      '$(touch x)',
      '\\040',
      '\\\\',
      ' ',
      'ü',
      '\u202eback',
      '*',
    ],
    ...[
      'x'.repeat(255),
      'proc',
      'dev',
      'sys',
      'run',
      'lost+found',
      'x (deleted)',
      '%s',
      '{}',
      '.GIT',
      '.git ',
      '.Agents',
      'git~1',
    ],
  ];
  for (let count = random.between(1, 3); count > 0; count--) {
    const name = random.pick(names);
    const folder = world.at(name, ...(random.chance(0.3) ? [random.pick(names)] : []));
    if (random.chance(0.5)) world.folder(join(folder, random.pick(PROTECTED_NAMES)));
    else world.file(folder, 'x');
    world.blame(folder);
  }
}

/** Names that are not UTF-8, which most programs cannot even print. */
function notUtf8(world: HostileWorld): void {
  const { random } = world;
  const name = Buffer.from(
    random.pick([[0xff], [0xc3, 0x28], [0x2e, 0xe2, 0x82], [0xed, 0xa0, 0x80], [0x80, 0x0a]]),
  );
  const path = Buffer.concat([Buffer.from(`${world.work}/`), name]);
  mkdirSync(path, { recursive: true });
  const inner = Buffer.concat([path, Buffer.from('/.git')]);
  if (random.chance(0.5)) mkdirSync(inner, { recursive: true });
  else writeFileSync(inner, 'gitdir: x\n');
  world.blame(path.toString(), world.work);
}

function noPermissions(world: HostileWorld): void {
  const folder = world.at(world.random.pick(['closed', 'sub', '.git', '.agents', '.codex']));
  if (!world.folder(folder)) return;
  if (world.random.chance(0.5)) world.folder(join(folder, '.git'));
  chmodSync(folder, world.random.pick([0o000, 0o111, 0o444, 0o555]));
}

function hardLinks(world: HostileWorld): void {
  for (const name of ['hard', 'sub/hard'])
    if (world.random.chance(0.5)) world.hardLink(world.at(name), join(world.linked, 'file'));
  // These links have protected names, so commands cannot change the file.
  for (const name of ['.codex/config.toml', '.git/config']) {
    if (world.random.chance(0.5)) world.hardLink(world.at(name), join(world.outside, 'config'));
  }
  // Commands do not write this path. Only patches do.
  world.hardLink(world.at('patched'), join(world.outside, 'config'));
}

function linksAround(world: HostileWorld): void {
  const targets = [
    '../outside',
    world.outside,
    world.home,
    join(world.home, 'config.toml'),
    '/',
    '..',
    'loop',
    '/dev',
    '/proc/self/root',
  ];
  for (let index = 0; index < 4; index++)
    world.link(world.at(`link${index}`), world.random.pick(targets));
  world.chain(world.at('chained'), world.outside);
}

/** Files that heddle would load, if it took the workspace for its own folder. */
function lookalikes(world: HostileWorld): void {
  const evil = 'throw new Error("loaded from the workspace");\n';
  world.file(world.at('node_modules', '@lydell', 'node-pty', 'requireBinary.js'), evil);
  world.file(
    world.at('node_modules', '@lydell', 'node-pty', 'package.json'),
    '{"main": "requireBinary.js"}',
  );
  world.file(world.at('node_modules', 'better-sqlite3', 'index.js'), evil);
  if (world.random.chance(0.5)) oddFile(world, world.at('package.json'));
  else world.large(world.at('package.json'), '{"type":');
  oddFile(world, world.at('heddle.db'));
  oddFile(world, world.at('config.toml'));
}

export const NAME_LAYOUTS: readonly Layout[] = [
  { name: 'an odd protected name', weight: 6, make: oddProtectedName },
  { name: 'a lookalike of a guard', weight: 1, make: guardLookalike },
  { name: 'odd instructions', weight: 3, make: oddInstructions },
  { name: 'a protected link among many entries', weight: 0.5, make: linkAmongMany },
  { name: 'odd names', weight: 2, make: oddNames },
  { name: 'names that are not UTF-8', weight: 1, make: notUtf8 },
  { name: 'folders without permissions', weight: 1, make: noPermissions },
  { name: 'hard links', weight: 1, make: hardLinks },
  { name: 'links around', weight: 2, make: linksAround },
  { name: 'lookalikes of packages', weight: 1, make: lookalikes },
];
