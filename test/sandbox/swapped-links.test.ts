import { chmodSync, mkdirSync, readdirSync, renameSync, rmdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createBubblewrap } from '../../src/sandbox/linux/create-bubblewrap.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { ConfinedWorld } from './confined-world.ts';

let world: ConfinedWorld;

beforeEach(() => {
  world = new ConfinedWorld();
});

afterEach(() => world.close());

describe('a link that a command created in a writable root', () => {
  test('in place of a root that did not exist makes nothing writable', async () => {
    const bounds = { writableRoots: [world.workspace, join(world.workspace, 'build')] };
    await world.bash(`ln -s ${world.outside} build`, bounds);
    const ran = await world.bash(`touch build/x ${world.outside}/x file`, bounds);
    expect(ran.stderr.match(/Read-only file system/g)).toHaveLength(2);
    expect([readdirSync(world.outside), readdirSync(world.workspace).toSorted()]).toEqual([
      [],
      ['build', 'file'],
    ]);
  });

  test('in the path of a root inside another root makes nothing writable', async () => {
    const root = world.folder('work', 'a', 'inner');
    world.folder('outside', 'inner');
    await world.bash(`mv a b; ln -s ${world.outside} a`);
    const ran = await world.bash('touch a/inner/x', { writableRoots: [world.workspace, root] });
    expect(ran.stderr).toContain('Read-only file system');
  });

  test('is followed if it leads to a file that is writable anyway', async () => {
    const bounds = { writableRoots: [world.workspace, join(world.workspace, 'build')] };
    const ran = await world.bash('mkdir real; ln -s real build', bounds);
    expect(ran.exitCode).toBe(0);
    expect(await world.bash('touch build/x', bounds, join(world.workspace, 'build'))).toMatchObject(
      { exitCode: 1 },
    );
    expect(await world.bash('touch x', bounds, join(world.workspace, 'build'))).toMatchObject({
      exitCode: 0,
    });
    expect(readdirSync(join(world.workspace, 'real'))).toEqual(['x']);
  });

  test('does not open a protected name', async () => {
    world.folder('work', 'deep', '.git');
    const bounds = { writableRoots: [world.workspace, join(world.workspace, 'build')] };
    await world.bash('ln -s deep/.git build', bounds);
    expect((await world.bash('touch build/x', bounds)).stderr).toContain('Read-only file system');
  });

  test('makes nothing readable', async () => {
    world.file('outside/secret', 'secret');
    const readable = {
      roots: [world.workspace, join(world.workspace, 'docs')],
      platformDefaults: true,
    };
    await world.bash(`ln -s ${world.outside} docs`, { readable });
    expect(await world.bash('cat docs/secret', { readable })).toMatchObject({
      exitCode: 1,
      stdout: '',
    });
  });

  test('in place of the workspace inside another root: commands there are refused, and the refusal says what to do', async () => {
    const bounds = { writableRoots: [world.workspace, world.base] };
    rmdirSync(world.workspace);
    symlinkSync('/usr', world.workspace);
    await expect(world.bash('touch share/x', bounds)).rejects.toThrow(
      `${world.workspace}: ${world.workspace} is a symbolic link out of the workspace, and a command may have made it.`,
    );
  });

  test('inside a root that the link itself names is not followed', async () => {
    const link = join(world.workspace, 'link');
    symlinkSync('..', link);
    expect(
      (
        await world.bash('touch x; touch work/x', { writableRoots: [link] }, world.base)
      ).stderr.match(/Read-only/g),
    ).toHaveLength(2);
  });
});

describe('a nested repository', () => {
  test('whose folder became a link after it was found makes nothing writable', async () => {
    world.folder('work', 'sub', 'repo', '.git');
    world.folder('outside', 'repo', '.git');
    await world.bash('true');
    renameSync(join(world.workspace, 'sub'), join(world.workspace, 'moved'));
    symlinkSync('../outside', join(world.workspace, 'sub'));
    const ran = await world.bash('touch ../outside/x ../outside/repo/x sub/x');
    expect(ran.stderr.match(/Read-only file system/g)).toHaveLength(3);
    expect(readdirSync(world.outside)).toEqual(['repo']);
  });

  test('that is created while a command runs is protected after that command has ended: it could replace the folders above it', async () => {
    const clock = new FakeClock();
    const sandbox = createBubblewrap({ ...world.sandboxDeps(), clock });
    const repository = join(world.workspace, 'sub', '.git');
    const confine = () =>
      sandbox.confine(
        { argv: ['true'], cwd: world.workspace, env: { PATH: '/usr/bin' }, terminal: false },
        world.bounds(),
      );
    const running = await confine();
    mkdirSync(repository, { recursive: true });
    clock.advance(60_000);
    for (let round = 0; round < 3; round++) {
      const beside = await confine();
      expect(beside.argv).not.toContain(repository);
      await beside.release();
      await world.bash('true');
    }
    await running.release();
    const after = await confine();
    expect(after.argv).toContain(repository);
    await after.release();
  });
});

test('in a shared folder such as /tmp, only names in the folders directly below are protected', async () => {
  const shared = world.shared;
  const paths = [
    world.folder('shared', 'one', '.git'),
    world.folder('shared', 'one', 'deep', '.git'),
  ];
  chmodSync(shared, 0o1777);
  const ran = await world.bash(
    paths.map((path) => `touch ${path}/x`).join(';'),
    { writableRoots: [shared] },
    shared,
  );
  expect(paths.map((path) => readdirSync(path))).toEqual([[], ['x']]);
  expect(ran.stderr).toContain('Read-only file system');
});

test('a workspace that commands of another thread replaced by a link is refused, and the refusal names the link', async () => {
  const inner = world.folder('work', 'inner');
  await world.bash('true');
  await world.bash('mv inner moved; ln -s ../outside inner');
  const own = { writableRoots: [inner], workspace: [inner] };
  await expect(world.bash('touch x', own, inner)).rejects.toThrow(
    `${inner} is a symbolic link out of the workspace`,
  );
  expect(readdirSync(world.outside)).toEqual([]);
});
