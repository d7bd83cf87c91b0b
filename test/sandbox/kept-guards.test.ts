import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfinedWorld } from './confined-world.ts';

let world: ConfinedWorld;

beforeEach(() => {
  world = new ConfinedWorld();
});

afterEach(() => world.close());

const GUARDS = ['.agents', '.codex', '.git', '.hg', 'HEAD'];

function confine() {
  return world.sandbox.confine(
    { argv: ['true'], cwd: world.workspace, env: {}, terminal: false },
    world.bounds(),
  );
}

async function keepGuards(): Promise<void> {
  await (await confine()).release(true);
  expect(readdirSync(world.workspace)).toEqual(GUARDS);
}

test('if further commands may follow, guards stay until the sandbox is tidied', async () => {
  await keepGuards();
  await keepGuards();
  await world.sandbox.tidy();
  expect(readdirSync(world.workspace)).toEqual([]);
});

test('guards that a running command needs are not tidied', async () => {
  const running = await confine();
  await keepGuards();
  await world.sandbox.tidy();
  expect(readdirSync(world.workspace)).toEqual(GUARDS);
  await running.release();
  expect(readdirSync(world.workspace)).toEqual([]);
});

test('kept guards are gone before a command outside the sandbox starts', async () => {
  await keepGuards();
  const { exitCode } = await world.run(['mkdir', '.hg'], null);
  expect(exitCode).toBe(0);
  expect(readdirSync(world.workspace)).toEqual(['.hg']);
});

test('kept guards that were removed, moved or replaced meanwhile still protect', async () => {
  await keepGuards();
  rmSync(join(world.workspace, '.git'), { recursive: true });
  renameSync(join(world.workspace, '.codex'), join(world.workspace, 'moved'));
  renameSync(join(world.workspace, '.hg'), join(world.workspace, 'also-moved'));
  mkdirSync(join(world.workspace, '.hg'));
  const attempts = ['.git', '.codex', '.hg', '.agents', 'HEAD'].map(
    (name) => `mkdir -p ${name}/new && touch ${name}/new/x`,
  );
  const { stdout } = await world.bash(
    attempts.map((attempt) => `${attempt} 2>/dev/null && echo made`).join('\n'),
  );
  expect(stdout).toBe('');
  await world.sandbox.tidy();
  expect(readdirSync(world.workspace)).toEqual(['.hg', 'also-moved', 'moved']);
  expect(
    ['.hg', 'also-moved', 'moved'].map((name) => readdirSync(join(world.workspace, name))),
  ).toEqual([[], [], []]);
});
