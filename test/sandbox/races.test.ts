import { mkdirSync, readdirSync, symlinkSync, watch } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfinedWorld } from './confined-world.ts';

const ROUNDS = 40;

let world: ConfinedWorld;

beforeEach(() => {
  world = new ConfinedWorld();
});

afterEach(() => world.close());

/** A script that exchanges two entries of the workspace, as often as possible, until the file `stop` appears. */
function flip(one: string, other: string): string {
  return `touch begun; exec python3 -c '
import ctypes, os
libc = ctypes.CDLL(None)
while not os.path.exists("stop"):
    for _ in range(1000):
        libc.renameat2(-100, b"${one}", -100, b"${other}", 2)
'`;
}

/** Runs a command again and again while another one flips. Returns what the commands wrote to stderr. */
async function race(script: string, inner: string, flipping: string): Promise<string[]> {
  const flipper = world.bash(flipping);
  const said: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const bounds = { writableRoots: [world.workspace, inner] };
    const ran = await world.bash(script, bounds).catch((error: Error) => ({ stderr: error.message }));
    said.push(ran.stderr);
  }
  await world.bash('touch stop');
  await flipper;
  return said;
}

test('a writable root inside another that becomes a link while it is mounted makes nothing else writable', async () => {
  const inner = join(world.workspace, 'inner');
  mkdirSync(join(world.workspace, 'folder'));
  symlinkSync('../outside', join(world.workspace, 'link'));
  const said = await race('touch inner/x', inner, `mv folder inner; ${flip('inner', 'link')}`);
  expect(readdirSync(world.outside)).toEqual([]);
  for (const text of said) expect(text).toMatch(/^$|was replaced while the command started|inner|Read-only file system/);
});

test('a folder that becomes a link while a guard is made in it: no guard is made elsewhere', async () => {
  const inner = join(world.workspace, 'a', 'inner');
  mkdirSync(inner, { recursive: true });
  mkdirSync(join(world.outside, 'inner'));
  symlinkSync('../outside', join(world.workspace, 'link'));
  const changes: string[] = [];
  const watcher = watch(join(world.outside, 'inner'), (_event, name) => changes.push(String(name)));
  await race('true', inner, flip('a', 'link'));
  watcher.close();
  expect(changes).toEqual([]);
  expect(readdirSync(join(world.outside, 'inner'))).toEqual([]);
});
