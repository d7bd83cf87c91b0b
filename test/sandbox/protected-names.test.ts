import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PROTECTED_NAMES } from '../../src/policy/permissions/sandbox-bounds.ts';
import { ConfinedWorld } from './confined-world.ts';

let world: ConfinedWorld;

beforeEach(() => {
  world = new ConfinedWorld();
});

afterEach(() => world.close());

/** Runs each attempt in its own shell. Returns the number that succeeded. */
async function succeeded(attempts: readonly string[]): Promise<string[]> {
  const { stdout } = await world.run([
    'bash',
    '-c',
    'for one in "$@"; do bash -c "$one" 2>/dev/null && echo "$one"; done',
    '-',
    ...attempts,
  ]);
  return stdout.split('\n').filter((line) => line !== '');
}

function rename(from: string, to: string): string {
  return `python3 -c 'import os; os.rename("${from}", "${to}")'`;
}

describe.each(PROTECTED_NAMES)('%s in a writable root', (name) => {
  test('that exists can be read, but not changed, replaced or removed', async () => {
    world.file(`work/${name}/config`, 'kept');
    const attempts = [
      `echo x > ${name}/config`,
      `echo x > ${name}/new`,
      `rm -rf ${name}`,
      rename(name, 'moved'),
      `mkdir other && ${rename('other', name)}`,
      `ln -sfT /tmp ${name}`,
      `mount --bind other ${name}`,
      `umount ${name}`,
      `grep -q kept ${name}/config`,
    ];
    expect(await succeeded(attempts)).toEqual([`grep -q kept ${name}/config`]);
    expect(readdirSync(join(world.workspace, name))).toEqual(['config']);
  });

  test('that does not exist cannot be created, and nothing is left behind', async () => {
    const attempts = [
      `mkdir ${name}`,
      `mkdir ${name}/hooks`,
      `echo x > ${name}`,
      `ln -sfT other ${name}`,
      `mkdir other; touch other/x; ${rename('other', name)}`,
      `rmdir ${name}`,
    ];
    expect(await succeeded(attempts)).toEqual([]);
    expect(readdirSync(world.workspace)).toEqual(['other']);
  });

  test('that is a file cannot be changed or replaced', async () => {
    world.file(`work/${name}`, 'kept');
    expect(
      await succeeded([`echo x > ${name}`, `rm ${name}`, `echo x > new; mv -fT new ${name}`]),
    ).toEqual([]);
    expect(readFileSync(join(world.workspace, name), 'utf8')).toBe('kept');
  });

  test('that is a symbolic link: neither the link nor its target can be changed', async () => {
    world.file('work/real/deep/config', 'kept');
    symlinkSync('deep', join(world.workspace, 'real', 'link'));
    symlinkSync('real/link', join(world.workspace, name));
    world.file('work/sub/file', 'changed');
    const attempts = [
      `echo x > ${name}/config`,
      `rm ${name}`,
      `ln -sfT /tmp ${name}`,
      `ln -sfT /tmp real/link`,
      rename('real', 'moved'),
      `echo x > real/deep/config`,
      rename('real/deep', 'real/moved'),
      'echo x > sub/file',
    ];
    expect(await succeeded(attempts)).toEqual(['echo x > sub/file']);
    expect(readFileSync(join(world.workspace, name, 'config'), 'utf8')).toBe('kept');
  });

  test('that is a symbolic link to a missing path: the target cannot be created', async () => {
    mkdirSync(join(world.workspace, 'sub'));
    symlinkSync('sub/none', join(world.workspace, name));
    expect(
      await succeeded([`mkdir sub/none`, `echo x > ${name}`, `rm ${name}`, 'touch sub/file']),
    ).toEqual(['touch sub/file']);
    expect(readdirSync(join(world.workspace, 'sub'))).toEqual(['file']);
  });

  test('below, at any depth: it cannot be changed, or moved away with a folder above it', async () => {
    world.file(`work/a/b/${name}/hooks/file`, 'kept');
    const attempts = [
      `echo x > a/b/${name}/hooks/file`,
      `touch a/b/${name}/x`,
      rename('a', 'c'),
      rename('a/b', 'c'),
      rename(`a/b/${name}`, 'c'),
    ];
    expect(await succeeded([...attempts, 'touch a/b/file'])).toEqual(['touch a/b/file']);
  });
});

test('the git folder that a `.git` file names cannot be changed, nor the one that it shares', async () => {
  world.file('work/store/worktrees/one/commondir', '../..\n');
  world.file('work/store/config', 'kept');
  world.file('work/tree/.git', 'gitdir: ../store/worktrees/one\n');
  const attempts = [
    'echo x > store/config',
    'echo x > store/worktrees/one/config',
    'echo x > tree/.git',
    'echo x > tree/file',
  ];
  expect(await succeeded(attempts)).toEqual(['echo x > tree/file']);
});

test('hooks that git finds by a symbolic link cannot be changed', async () => {
  world.file('work/scripts/pre-commit', 'kept');
  mkdirSync(join(world.workspace, '.git'));
  symlinkSync('../scripts', join(world.workspace, '.git', 'hooks'));
  expect(await succeeded(['echo x > scripts/pre-commit', 'touch scripts/x'])).toEqual([]);
});

test('several commands at once guard the same names, and the last takes the guards away', async () => {
  const ran = await Promise.all(
    [1, 2, 3, 4].map((each) => world.bash(`mkdir .git || touch ran-${each}`)),
  );
  expect(ran.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
  expect(readdirSync(world.workspace)).toEqual(['ran-1', 'ran-2', 'ran-3', 'ran-4']);
});

test('a guard stays as long as another heddle process uses it', async () => {
  const other = new ConfinedWorld();
  const bounds = { writableRoots: [world.workspace] };
  const confined = { argv: ['true'], cwd: world.workspace, env: {}, terminal: false };
  const confinement = await other.sandbox.confine(confined, other.bounds(bounds));
  await world.bash('true');
  expect(readdirSync(world.workspace)).toEqual(['.agents', '.codex', '.git', '.hg', 'HEAD']);
  await confinement.release();
  expect(readdirSync(world.workspace)).toEqual([]);
  await other.close();
});

test('a guard left by a crash still protects, and is removed with the next command', async () => {
  mkdirSync(join(world.workspace, '.git'));
  const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '';
  mkdirSync(join(world.workspace, '.codex', `held-for-sandbox-${namespace}-99999999-00000000`), {
    recursive: true,
  });
  expect(await succeeded(['touch .codex/x', 'rmdir .codex/held*'])).toEqual([]);
  expect(readdirSync(world.workspace)).toEqual(['.git']);
});

test('what lies in the folders above decides about no guard, unless it is a repository', async () => {
  const guards = async () => {
    const ran = await world.bash('ls -A');
    return ran.stdout.trim().split('\n');
  };
  const names = ['.agents', '.codex', '.git', '.hg'];
  expect(await guards()).toEqual([...names, 'HEAD']);
  const dotGit = join(world.base, '.git');
  mkdirSync(dotGit);
  expect(await guards()).toEqual([...names, 'HEAD']);
  mkdirSync(join(dotGit, 'held-for-sandbox-1-1-0a'));
  expect(await guards()).toEqual([...names, 'HEAD']);
  spawnSync('rm', ['-r', dotGit]);
  spawnSync('git', ['init', '-q', world.base]);
  // In a repository, a HEAD would make `git log HEAD` ambiguous.
  expect(await guards()).toEqual([...names, 'commondir', 'refs']);
});

test('git outside the sandbox does not show guards as changes', async () => {
  const other = new ConfinedWorld();
  spawnSync('git', ['init', '-q', world.workspace]);
  const confined = { argv: ['true'], cwd: world.workspace, env: {}, terminal: false };
  const confinement = await other.sandbox.confine(
    confined,
    other.bounds({ writableRoots: [world.workspace] }),
  );
  expect(readdirSync(world.workspace)).toEqual(['.agents', '.codex', '.git', '.hg']);
  expect(
    spawnSync('git', ['status', '--porcelain'], { cwd: world.workspace, encoding: 'utf8' }).stdout,
  ).toBe('');
  await confinement.release();
  await other.close();
});

test('a repository that the user creates while a command runs stays, and the next command protects it while the first still runs', async () => {
  await world.bash('mkfifo ready go');
  const running = world.bash('echo > ready; cat go');
  await world.bash('cat ready');
  expect(spawnSync('git', ['init', '-q'], { cwd: world.workspace }).status).toBe(0);
  const beside = await world.bash('git status --porcelain; touch .git/x');
  expect(beside).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining('Read-only file system'),
  });
  await world.bash('echo > go');
  await running;
  expect(spawnSync('git', ['status', '--porcelain'], { cwd: world.workspace }).status).toBe(0);
  expect(readdirSync(join(world.workspace, '.git'))).not.toContainEqual(
    expect.stringContaining('held'),
  );
});

describe('paths near the maximum length', () => {
  /** Creates a folder with a path of this many bytes. */
  function deepFolder(bytes: number): string {
    let path = world.workspace;
    while (path.length < bytes) {
      path = join(path, 'd'.repeat(Math.min(200, Math.max(1, bytes - path.length - 1))));
      mkdirSync(path);
    }
    return path;
  }

  test('of a root: a path that cannot be protected is refused, and nothing is left behind', async () => {
    const deep = deepFolder(4080);
    await expect(world.bash('true', { writableRoots: [deep] }, deep)).rejects.toThrow(
      'could not be protected',
    );
    expect(readdirSync(deep)).toEqual([]);
  });

  test('of a nested repository: commands still run', async () => {
    mkdirSync(join(deepFolder(4085), '.git'));
    expect(await world.bash('true')).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });

  test('a root may contain line breaks and words that look like options', async () => {
    const root = world.folder('work', 'a\n--bind "/ -- x');
    expect(
      await world.bash('touch file; mkdir .git', { writableRoots: [root] }, root),
    ).toMatchObject({ exitCode: 1 });
    expect(readdirSync(root)).toEqual(['file']);
  });
});

test("a folder of the user's own stays, even when it is empty", async () => {
  mkdirSync(join(world.workspace, '.codex'));
  await world.bash('true');
  expect(readdirSync(world.workspace)).toEqual(['.codex']);
});

test('a protected name that is itself a writable root can be written', async () => {
  world.file('work/.git/config');
  const ran = await world.bash('echo x > .git/config', {
    writableRoots: [world.workspace, join(world.workspace, '.git')],
  });
  expect(ran).toEqual({ exitCode: 0, stdout: '', stderr: '' });
});
