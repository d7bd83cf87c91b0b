// @module-tag slow
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SandboxBounds } from '../../src/policy/permissions/sandbox-bounds.ts';
import { ProcessStartError } from '../../src/sandbox/processes/processes.ts';
import { differences, recordCanaries } from '../support/canaries.ts';
import { ConfinedWorld } from './confined-world.ts';
import { becomesLink, type Flip, flipping, stopFlipping } from './flipping.ts';

/** How many commands race with the exchanges. */
const COMMANDS = 120;
const AT_ONCE = 4;
const timeout = 60_000;

let world: ConfinedWorld;

beforeEach(() => {
  world = new ConfinedWorld();
  for (const name of ['file', 'inner/file', 'repo/.git/config'])
    world.file(`outside/${name}`, 'canary\n');
});

afterEach(() => world.close());

interface Race {
  /** The entries that the command in the background exchanges. It runs in the workspace. */
  flip: Flip;
  /** The bounds of the command in the background. */
  around?: Partial<SandboxBounds>;
  /** The commands that are started meanwhile, and their bounds. */
  script: string;
  bounds?: Partial<SandboxBounds>;
  cwd?: string;
}

/**
 * Returns the changes outside that occurred while commands started beside one that exchanges
 * folders and links.
 */
async function changedIn({
  flip,
  around = {},
  script,
  bounds = {},
  cwd = world.workspace,
}: Race): Promise<string[]> {
  const record = () => recordCanaries([world.outside], { times: true });
  const before = record();
  const background = world.bash(flipping(flip), around);
  await becomesLink(join(world.workspace, flip.one));
  let left = COMMANDS;
  const runSome = async () => {
    for (; left > 0; left--) await unlessRefused(world.bash(script, bounds, cwd));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, runSome));
  stopFlipping(world.workspace);
  await background;
  return differences(before, record());
}

/** A command whose folder is a link at the moment is refused. */
async function unlessRefused(running: Promise<unknown>): Promise<void> {
  try {
    await running;
  } catch (error) {
    if (!(error instanceof ProcessStartError)) throw error;
  }
}

const evil = (folder: string) =>
  `touch ${folder}/evil ${folder}/inner/evil; echo evil > ${folder}/file; rm -rf ${folder}/repo`;

describe('while a command exchanges a folder and a link to a folder outside, other commands write nothing outside', () => {
  test.each([0, 0.002, 0.02])(
    'the folder is a writable root inside another one, and stays at most %d s',
    { timeout },
    async (pauseSecondsMax) => {
      const bounds = { writableRoots: [world.workspace, join(world.workspace, 'build')] };
      await world.bash(`mkdir build; ln -s ${world.outside} link`, bounds);
      const race = { script: evil('build'), bounds };
      expect(
        await changedIn({ flip: { one: 'build', other: 'link', pauseSecondsMax }, ...race }),
      ).toEqual([]);
    },
  );

  test.each([0, 0.002, 0.02])(
    'a folder above the root, which stays at most %d s',
    { timeout },
    async (pauseSecondsMax) => {
      const root = join(world.workspace, 'a', 'inner');
      mkdirSync(root, { recursive: true });
      symlinkSync(world.outside, join(world.workspace, 'link'));
      const race = { script: evil('a'), bounds: { writableRoots: [world.workspace, root] } };
      expect(
        await changedIn({ flip: { one: 'a', other: 'link', pauseSecondsMax }, ...race }),
      ).toEqual([]);
    },
  );

  test('the folder contains a repository', { timeout }, async () => {
    symlinkSync(world.outside, join(world.workspace, 'link'));
    mkdirSync(join(world.workspace, 'sub'));
    const script = `mkdir -p sub/repo/.git/hooks; ${evil('sub')}; ${evil('sub/repo')}; touch sub/repo/.git/evil`;
    expect(await changedIn({ flip: { one: 'sub', other: 'link' }, script })).toEqual([]);
  });

  test('the folder is the working directory', { timeout }, async () => {
    symlinkSync(world.outside, join(world.workspace, 'link'));
    mkdirSync(join(world.workspace, 'sub'));
    const race = { script: evil('.'), cwd: join(world.workspace, 'sub') };
    expect(await changedIn({ flip: { one: 'sub', other: 'link' }, ...race })).toEqual([]);
  });
});

test('the guards of a root that a command exchanges for a link are not made outside', {
  timeout,
}, async () => {
  const root = join(world.workspace, 'build');
  mkdirSync(root);
  symlinkSync(world.outside, join(world.workspace, 'link'));
  const race = { script: 'true', bounds: { writableRoots: [world.workspace, root] } };
  expect(
    await changedIn({ flip: { one: 'build', other: 'link', pauseSecondsMax: 0.003 }, ...race }),
  ).toEqual([]);
});
