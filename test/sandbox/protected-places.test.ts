import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConfinedWorld } from './confined-world.ts';

let world: ConfinedWorld;

beforeEach(() => {
  world = new ConfinedWorld();
});

afterEach(() => world.close());

function git(...args: string[]): void {
  expect(spawnSync('git', args, { cwd: world.workspace, encoding: 'utf8' })).toMatchObject({
    status: 0,
  });
}

/**
 * Runs git as the user in a folder of the workspace. Returns whether git starts the program that a
 * command has configured there.
 */
function userRuns(folder: string): boolean {
  spawnSync('git', ['status'], { cwd: join(world.workspace, folder) });
  return existsSync(join(world.outside, 'canary'));
}

/** A script that commands leave behind to prove that it was run outside the sandbox. */
function evil(): string {
  const path = world.file('work/evil.sh', `#!/bin/sh\ntouch ${world.outside}/canary\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Settings that make `git status` run the script in a folder of the workspace. */
function monitor(folder = '.'): string {
  const worktree = join(world.workspace, folder);
  return `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ${worktree}\n\tfsmonitor = ${evil()}\n`;
}

describe('a command cannot make git run its program, in a workspace', () => {
  test('without a repository, which could become one without a work tree', async () => {
    const config = monitor();
    await world.bash(
      `mkdir -p objects refs/heads; printf 'ref: refs/heads/x\\n' > HEAD; printf '%s' '${config}' > config`,
    );
    expect(userRuns('.')).toBe(false);
    expect(readdirSync(world.workspace)).toEqual(['config', 'evil.sh', 'objects', 'refs']);
  });

  test('that is a repository without a work tree', async () => {
    git('init', '-q', '--bare', '.');
    const config = monitor();
    await world.bash(`rm config; printf '%s' '${config}' > config`);
    expect(userRuns('.')).toBe(false);
  });

  test('whose `.git` names a folder that does not exist', async () => {
    writeFileSync(join(world.workspace, '.git'), 'gitdir: later/git\n');
    const config = monitor();
    const later = 'later/git';
    await world.bash(
      `mkdir -p ${later}/objects ${later}/refs; echo ref: refs/x > ${later}/HEAD; printf '%s' '${config}' > ${later}/config`,
    );
    expect(userRuns('.')).toBe(false);
    expect(existsSync(join(world.workspace, 'later'))).toBe(false);
  });

  test.each(['config', 'hooks', 'config.worktree'])(
    'whose .git/%s is a link to a missing path',
    async (name) => {
      git('init', '-q');
      spawnSync('rm', ['-rf', join(world.workspace, '.git', name)]);
      symlinkSync(`../target/${name}`, join(world.workspace, '.git', name));
      const { exitCode } = await world.bash(`mkdir -p target && echo x > target/${name}`);
      expect(exitCode).not.toBe(0);
      expect(existsSync(join(world.workspace, 'target', name))).toBe(false);
    },
  );

  test.each([
    ['[include] path = ../shared.config', 'shared.config'],
    ['[include]\n path = "../a/b/shared.config"', 'a/b/shared.config'],
    ['[includeIf "gitdir:**"]\n\tPATH = ../x', 'x'],
    ['[include] path = ../link', 'target'],
  ])('whose configuration includes a file: %j', async (setting, file) => {
    git('init', '-q');
    const config = join(world.workspace, '.git', 'config');
    writeFileSync(config, `${readFileSync(config, 'utf8')}${setting}\n`);
    if (setting.includes('link')) symlinkSync('target', join(world.workspace, 'link'));
    const content = monitor();
    await world.bash(`mkdir -p ${dirname(file)}; printf '%s' '${content}' > ${file}`);
    expect(userRuns('.')).toBe(false);
    // The file exists now, and includes another.
    world.file(`work/${file}`, `[include] path = ${world.workspace}/deeper\n`);
    await world.bash(`printf '%s' '${content}' > ${file}; printf '%s' '${content}' > deeper`);
    expect(userRuns('.')).toBe(false);
  });

  test('with a repository below, however many others are there, and in node_modules too', async () => {
    for (let index = 0; index < 300; index += 1)
      world.folder('work', 'decoys', `d${index}`, '.git');
    const repositories = ['node_modules/dependency', 'a/b/c'];
    for (const folder of repositories) git('init', '-q', folder);
    for (const folder of repositories)
      await world.bash(
        `printf '%s' '${monitor(folder)}' > ${folder}/.git/config; echo x > ${folder}/.git/hooks/pre-commit`,
      );
    for (const folder of repositories) {
      expect(userRuns(folder)).toBe(false);
      expect(existsSync(join(world.workspace, folder, '.git/hooks/pre-commit'))).toBe(false);
    }
  });

  test('with a submodule that is not checked out', async () => {
    git('init', '-q');
    git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},sub`);
    world.folder('work', 'sub');
    const config = monitor('sub');
    await world.bash(
      `mkdir -p sub/.git/objects sub/.git/refs; echo ref: refs/x > sub/.git/HEAD; printf '%s' '${config}' > sub/.git/config`,
    );
    expect(userRuns('.')).toBe(false);
    expect(existsSync(join(world.workspace, 'sub', '.git'))).toBe(false);
  });

  test('that a command has opened to everyone, like /tmp', async () => {
    git('init', '-q', 'a/b/c');
    await world.bash('chmod o+wt .');
    world.sandboxAgain();
    expect((await world.bash('echo x > a/b/c/.git/config')).exitCode).not.toBe(0);
  });

  test.each([
    ['.git', 'gitdir: .\n'],
    ['.git/commondir', '..\n'],
  ])('whose %s names the workspace itself', async (name, text) => {
    world.file('work/config', '');
    world.file('work/HEAD', 'ref: refs/heads/x\n');
    world.folder('work', 'objects');
    world.folder('work', 'refs');
    if (name === '.git/commondir') world.file('work/.git/HEAD', 'ref: refs/heads/x\n');
    world.file(`work/${name}`, text);
    const { exitCode } = await world.bash(
      'echo x > config; touch commondir hooks; test -s config || test -e hooks',
    );
    expect(exitCode).not.toBe(0);
  });

  test('in a folder of a repository: `git log HEAD` means the commit, and the folder cannot become a repository', async () => {
    git('init', '-q', '.');
    git('-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-q', '--allow-empty', '-m', 'one');
    const sub = world.folder('work', 'sub');
    const own = { writableRoots: [sub], workspace: [sub] };
    expect((await world.bash('git log --format=%s HEAD', own, sub)).stdout).toBe('one\n');
    const config = monitor('sub');
    const bare = `mkdir -p c/objects c/refs objects refs; echo ref: refs/heads/x > HEAD; echo c > commondir; printf '%s' '${config}' | tee config > c/config`;
    await world.bash(bare, own, sub);
    expect(userRuns('sub')).toBe(false);
  });

  test('with a repository below that has no work tree', async () => {
    git('init', '-q', '--bare', 'sub/mirror');
    const { exitCode } = await world.bash(
      `echo x > sub/mirror/hooks/post-receive || echo x > sub/mirror/config`,
    );
    expect(exitCode).not.toBe(0);
  });

  test("inside heddle's home", async () => {
    const workspace = world.folder('home', 'work');
    git('init', '-q', join(workspace, 'sub'));
    const { exitCode } = await world.bash(
      'echo x > sub/.git/hooks/post-commit',
      { writableRoots: [workspace], workspace: [workspace] },
      workspace,
    );
    expect(exitCode).not.toBe(0);
  });
});

describe('much to protect', () => {
  test('deep: commands still run, and the places are protected', { tags: 'slow' }, async () => {
    const deep: string[] = [];
    for (let index = 0; index < 100; index += 1)
      deep.push(join(`b${index}`, ...Array(30).fill('d'), '.agents'));
    for (let index = 0; index < 3; index += 1)
      deep.push(join(`c${index}`, ...Array(900).fill('e'), '.agents'));
    for (const path of deep) mkdirSync(join(world.workspace, path), { recursive: true });
    const { exitCode, stdout, stderr } = await world.run([
      'bash',
      '-c',
      'for one in "$@"; do touch "$one/x" 2>/dev/null && echo "$one"; done; touch new',
      '-',
      ...deep,
    ]);
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(existsSync(join(world.workspace, 'new'))).toBe(true);
  });

  test('too much: commands are refused with the place, until the user leaves it out', {
    tags: 'slow',
  }, async () => {
    for (let index = 0; index < 1100; index += 1) world.folder('work', `a${index}`, '.agents');
    await expect(world.bash('true')).rejects.toThrow(
      /work\/a\d+ contains too many protected paths.*unprotected_folders/s,
    );
    for (let index = 0; index < 1100; index += 1)
      world.folder('work', 'all', `a${index}`, '.agents');
    const unprotected = readdirSync(world.workspace)
      .filter((name) => name !== 'all')
      .map((name) => join(world.workspace, name));
    const { exitCode } = await world.bash(
      '! touch all/a7/.agents/x 2>/dev/null && touch a7/.agents/x',
      { unprotected },
    );
    expect(exitCode).toBe(0);
  });
});

describe('what the server runs from cannot be changed', () => {
  test('in the node_modules of the workspace', async () => {
    const modules = join(world.workspace, 'node_modules');
    const file = (path: string, content: unknown) =>
      world.file(`work/node_modules/${path}`, JSON.stringify(content));
    file('heddle/package.json', {
      dependencies: { '@lydell/node-pty': '1', 'better-sqlite3': '1' },
    });
    file('@lydell/node-pty/package.json', {
      optionalDependencies: { '@lydell/node-pty-linux': '1' },
    });
    file('@lydell/node-pty-linux/package.json', {});
    file('better-sqlite3/package.json', { dependencies: { bindings: '1' } });
    file('better-sqlite3/node_modules/bindings/package.json', {});
    file('other/package.json', {});
    const { run, close } = world.withServer({
      manifest: join(modules, 'heddle', 'package.json'),
      executable: process.execPath,
    });
    const places = [
      ...[
        'heddle/dist.js',
        'heddle/node_modules',
        '@lydell/node-pty/index.js',
        '@lydell/node_modules',
        '@lydell/node-pty-linux/x',
      ],
      ...['better-sqlite3/x', 'better-sqlite3/node_modules/bindings/x'],
    ];
    for (const place of places) expect(await run(`touch node_modules/${place}`)).not.toBe(0);
    expect(await run('rm -rf node_modules/heddle || mv node_modules moved')).not.toBe(0);
    expect(await run('touch node_modules/other/x node_modules/x')).toBe(0);
    await close();
  });

  test('in a checkout of heddle, and where Node is in the workspace', async () => {
    world.file('work/package.json', '{}');
    world.file('work/dist/heddle.cjs');
    world.file('work/node/bin/node');
    const installation = {
      manifest: join(world.workspace, 'package.json'),
      executable: join(world.workspace, 'node/bin/node'),
    };
    const { run, close } = world.withServer(installation);
    for (const place of [
      'dist/heddle.cjs',
      'package.json',
      'bin/heddle.js',
      'migrations/1.sql',
      'node/bin/node',
      'node/bin/npm',
    ])
      expect(await run(`mkdir -p $(dirname ${place}) && touch ${place}`)).not.toBe(0);
    expect(await run('mkdir src && touch src/x README.md node/lib')).toBe(0);
    await close();
  });

  test('if a writable root lies in it', async () => {
    const root = world.folder('work', 'node_modules', 'heddle', 'dist');
    const installation = {
      manifest: world.file('work/node_modules/heddle/package.json', '{}'),
      executable: process.execPath,
    };
    const { run, close } = world.withServer(installation, { writableRoots: [root] });
    expect(await run(`touch ${root}/x`)).not.toBe(0);
    await close();
  });
});

describe("heddle's home", () => {
  test('that is a link in a writable root cannot be replaced', async () => {
    const home = join(world.workspace, 'home-link');
    symlinkSync(world.home, home);
    await world.bash(
      'mv home-link moved; mkdir home-link; echo x > home-link/config.toml; rm -f home-link',
      { home },
    );
    expect(readdirSync(world.workspace)).toEqual(['home-link']);
    expect(existsSync(join(world.home, 'config.toml'))).toBe(false);
  });

  test('whose configuration and rules are links into the workspace: their targets cannot be changed', async () => {
    symlinkSync(world.file('work/dotfiles/config.toml', 'kept'), join(world.home, 'config.toml'));
    symlinkSync(world.folder('work', 'dotfiles', 'rules'), join(world.home, 'rules'));
    await world.bash(
      'echo x > dotfiles/config.toml; rm -f dotfiles/config.toml; echo x > dotfiles/rules/default.rules; mv dotfiles other',
    );
    expect(readFileSync(join(world.workspace, 'dotfiles/config.toml'), 'utf8')).toBe('kept');
    expect(readdirSync(join(world.workspace, 'dotfiles/rules'))).toEqual([]);
  });
});
