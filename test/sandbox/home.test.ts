import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfinedWorld } from './confined-world.ts';

const SECRETS = [
  ...['auth.json', 'heddle.db', 'heddle.db-wal', 'heddle.db-shm', 'heddle-trust.jsonl'],
  ...['heddle-writers/one', 'sessions/2026/rollout.jsonl'],
];

let world: ConfinedWorld;

beforeEach(() => {
  world = new ConfinedWorld();
  for (const name of SECRETS) world.file(`home/${name}`, 'secret');
  world.file('home/config.toml', 'plain');
  world.file('home/rules/default.rules', 'plain');
});

afterEach(() => world.close());

const readSecrets = (home: string) => `cd ${home} && cat ${SECRETS.join(' ')} 2>/dev/null`;
const changeHome = (home: string) =>
  [
    'config.toml',
    'auth.json',
    'rules/default.rules',
    'rules/new.rules',
    'heddle.db',
    'heddle.db-wal',
    'heddle-writers/x',
    'heddle-trust.jsonl',
    'sessions/x',
    'log/x',
  ]
    .map((name) => `mkdir -p ${home}/log; echo changed > ${home}/${name} && echo ${name}`)
    .join(';');

test('a command reads the configuration and the rules in the home, and none of its secrets', async () => {
  const ran = await world.bash(`cat ${world.home}/config.toml ${world.home}/rules/*; ${readSecrets(world.home)}; ls -A ${world.home}`);
  expect(ran.stdout).toBe('plainplainconfig.toml\nrules\n');
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
  expect(readFileSync(join(world.home, 'config.toml'), 'utf8')).toBe('plain');
});

test('a workspace inside the home can be used, and the home around it is protected', async () => {
  const inner = world.folder('home', 'projects', 'one');
  const script = `echo x > file; mkdir .git; ${changeHome(world.home)}; ${readSecrets(world.home)}; ls ${world.home}/projects`;
  const ran = await world.bash(script, { writableRoots: [inner] }, inner);
  expect(ran.stdout).toBe('one\n');
  expect(readdirSync(inner)).toEqual(['file']);
});

test("a workspace that is the home can be used, except heddle's own files, whether they exist or not", async () => {
  const bounds = { writableRoots: [world.home] };
  const script = `echo x > notes; ${changeHome(world.home)}; ${readSecrets(world.home)}; rm -rf auth.json log; cat config.toml`;
  const ran = await world.bash(script, bounds, world.home);
  expect(ran.stdout).toBe('plain');
  expect(readdirSync(world.home).toSorted()).toEqual([
    ...['auth.json', 'config.toml', 'heddle-trust.jsonl', 'heddle-writers', 'heddle.db', 'heddle.db-shm', 'heddle.db-wal'],
    ...['notes', 'rules', 'sessions'],
  ]);
});

test('the home is protected if it is reached by a symbolic link', async () => {
  const link = join(world.workspace, 'link');
  symlinkSync(world.home, link);
  const ran = await world.bash(`${changeHome(link)}; ${readSecrets(link)}; cat ${link}/config.toml`, { home: link });
  expect(ran.stdout).toBe('plain');
});

test('the home is protected with restricted reads', async () => {
  const readable = { roots: [world.base], platformDefaults: true };
  const ran = await world.bash(`${readSecrets(world.home)}; cat ${world.home}/config.toml`, { readable });
  expect(ran.stdout).toBe('plain');
  const none = await world.bash(`ls ${world.home}`, { readable: { roots: [world.workspace], platformDefaults: true } });
  expect(none.stderr).toContain('No such file');
});

test('a secret cannot be read even if it is a readable root', async () => {
  const readable = { roots: [world.workspace, join(world.home, 'auth.json'), join(world.home, 'sessions')], platformDefaults: true };
  expect((await world.bash(readSecrets(world.home), { readable })).stdout).toBe('');
});

test.each(['heddle-writers', 'sessions'])('%s in the home is no workspace: it is neither read nor written', async (name) => {
  const folder = join(world.home, name);
  const bounds = { workspace: [folder], writableRoots: [folder] };
  await expect(world.bash('true', bounds, folder)).rejects.toThrow('cannot be read in the sandbox');
  expect((await world.bash(`ls ${folder}; touch ${folder}/x`, bounds)).stderr.match(/No such file/g)).toHaveLength(2);
  expect((await world.bash(`ls ${folder}`, { ...bounds, writableRoots: [] })).stderr).toContain('No such file');
});

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
