import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfinedWorld } from './confined-world.ts';

const SECRETS = [
  ...[
    'config.toml',
    'auth.json',
    'heddle.db',
    'heddle.db-wal',
    'heddle.db-shm',
    'heddle-trust.jsonl',
  ],
  ...['heddle-writers/one', 'sessions/2026/rollout.jsonl'],
];

let world: ConfinedWorld;

beforeEach(() => {
  world = new ConfinedWorld();
  for (const name of SECRETS) world.file(`home/${name}`, 'secret');
  world.file('home/AGENTS.md', 'plain');
  world.file('home/rules/default.rules', 'plain');
});

afterEach(() => world.close());

const readSecrets = (home: string) => `cd ${home} && cat ${SECRETS.join(' ')} 2>/dev/null`;
const changeHome = (home: string) =>
  [
    'config.toml',
    'AGENTS.md',
    'auth.json',
    'rules/default.rules',
    'rules/new.rules',
    'heddle.db',
    'heddle.db-wal',
    'heddle-writers/x',
    'heddle-trust.jsonl',
    'sessions/x',
    'log/x',
    'hooks.json',
    'agents/reviewer.toml',
    'heddle-mcp.credentials.json',
    'work.config.toml',
  ]
    .map(
      (name) =>
        `mkdir -p ${home}/log ${home}/agents; echo changed > ${home}/${name} && echo ${name}`,
    )
    .join(';');

test('a command reads the instructions and the rules in the home, and none of its secrets, such as the configuration', async () => {
  const ran = await world.bash(
    `cat ${world.home}/AGENTS.md ${world.home}/rules/*; ${readSecrets(world.home)}; ls -A ${world.home}`,
  );
  expect(ran.stdout).toBe('plainplainAGENTS.md\nrules\n');
});

test('a command cannot change anything in the home', async () => {
  expect((await world.bash(changeHome(world.home))).stdout).toBe('');
});

test('a home below a writable root is protected, and cannot be moved away', async () => {
  const rename = `python3 -c 'import os; os.rename("${world.home}", "${world.base}/moved")'`;
  const script = `${changeHome(world.home)}; ${readSecrets(world.home)}; ${rename}; touch ${world.base}/file`;
  const ran = await world.bash(script, { writableRoots: [world.base] });
  expect(ran.stdout).toBe('');
  expect(readdirSync(world.base)).toContain('file');
  expect(readFileSync(join(world.home, 'AGENTS.md'), 'utf8')).toBe('plain');
});

test('a workspace inside the home can be used, and the home around it is protected', async () => {
  const inner = world.folder('home', 'projects', 'one');
  const script = `echo x > file; mkdir .git; ${changeHome(world.home)}; ${readSecrets(world.home)}; ls ${world.home}/projects`;
  const ran = await world.bash(script, { writableRoots: [inner] }, inner);
  expect(ran.stdout).toBe('one\n');
  expect(readdirSync(inner)).toEqual(['file']);
});

test("a workspace that is the home can be used, except heddle's own files, whether they exist or not", async () => {
  const bounds = { writableRoots: [world.home], profileFiles: ['work.config.toml'] };
  const script = `echo x > notes; ${changeHome(world.home)}; ${readSecrets(world.home)}; rm -rf auth.json log; cat AGENTS.md`;
  const ran = await world.bash(script, bounds, world.home);
  expect(ran.stdout).toBe('plain');
  expect(readdirSync(world.home).toSorted()).toEqual([
    ...[
      'AGENTS.md',
      'auth.json',
      'config.toml',
      'heddle-trust.jsonl',
      'heddle-writers',
      'heddle.db',
      'heddle.db-shm',
      'heddle.db-wal',
    ],
    ...['notes', 'rules', 'sessions'],
  ]);
});

test('the home is protected if it is reached by a symbolic link', async () => {
  const link = join(world.workspace, 'link');
  symlinkSync(world.home, link);
  const ran = await world.bash(`${changeHome(link)}; ${readSecrets(link)}; cat ${link}/AGENTS.md`, {
    home: link,
  });
  expect(ran.stdout).toBe('plain');
});

test('the home is protected with restricted reads', async () => {
  const readable = { roots: [world.base], platformDefaults: true };
  const ran = await world.bash(`${readSecrets(world.home)}; cat ${world.home}/AGENTS.md`, {
    readable,
  });
  expect(ran.stdout).toBe('plain');
  const none = await world.bash(`ls ${world.home}`, {
    readable: { roots: [world.workspace], platformDefaults: true },
  });
  expect(none.stderr).toContain('No such file');
});

test('a secret cannot be read even if it is a readable root', async () => {
  const readable = {
    roots: [
      world.workspace,
      join(world.home, 'auth.json'),
      join(world.home, 'config.toml'),
      join(world.home, 'sessions'),
    ],
    platformDefaults: true,
  };
  expect((await world.bash(readSecrets(world.home), { readable })).stdout).toBe('');
});

test.each(['heddle-writers', 'sessions'])(
  '%s in the home is no workspace: it is neither read nor written',
  async (name) => {
    const folder = join(world.home, name);
    const bounds = { workspace: [folder], writableRoots: [folder] };
    await expect(world.bash('true', bounds, folder)).rejects.toThrow(
      'cannot be read in the sandbox',
    );
    expect(
      (await world.bash(`ls ${folder}; touch ${folder}/x`, bounds)).stderr.match(/No such file/g),
    ).toHaveLength(2);
    expect((await world.bash(`ls ${folder}`, { ...bounds, writableRoots: [] })).stderr).toContain(
      'No such file',
    );
  },
);

test.each(['a writable root', 'a workspace'])(
  'a command in a home that is %s reads no copy of a secret file',
  async (kind) => {
    const copies = [
      'config.toml~',
      '.config.toml.swp',
      'config.toml.bak',
      'auth.json.1',
      'heddle.db-journal',
      'Config.toml',
    ];
    for (const name of copies) world.file(`home/${name}`, 'secret');
    world.file('home/notes', 'plain');
    const bounds = {
      workspace: [world.home],
      writableRoots: kind === 'a writable root' ? [world.home] : [],
    };
    const ran = await world.bash(
      `cat notes ${copies.join(' ')}; mv config.toml moved; cp config.toml copy; cat moved copy`,
      bounds,
      world.home,
    );
    expect(ran.stdout).toBe('plain');
  },
);

test.each(['everything', 'restricted'])(
  'a command does not read a config.toml that is a link out of the home, with reads: %s',
  async (reads) => {
    const target = world.file('work/dotfiles/config.toml', 'secret');
    rmSync(join(world.home, 'config.toml'));
    symlinkSync(target, join(world.home, 'config.toml'));
    const readable = reads === 'everything' ? reads : { roots: [], platformDefaults: true };
    const ran = await world.bash(
      `cat ${target}; echo changed > ${target}; mv ${target} moved; cat moved; ls dotfiles`,
      { readable },
    );
    expect(ran.stdout).toBe('config.toml\n');
    expect(readFileSync(target, 'utf8')).toBe('secret');
  },
);

test('a command does not see a secret that is created while it runs', async () => {
  await world.bash('mkfifo ready go');
  const running = world.bash(`echo > ready; cat go; cat ${world.home}/later`);
  await world.bash('cat ready');
  world.file('home/later', 'secret');
  await world.bash('echo > go');
  expect((await running).stdout).toBe('\n');
});

test('skills in the home that are a symbolic link can be read', async () => {
  mkdirSync(join(world.outside, 'skills'));
  world.file('outside/skills/one', 'text');
  symlinkSync(join(world.outside, 'skills'), join(world.home, 'skills'));
  expect((await world.bash(`cat ${world.home}/skills/one`)).stdout).toBe('text');
});
