import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConfinedWorld } from './confined-world.ts';

let world: ConfinedWorld;

beforeEach(() => {
  world = new ConfinedWorld();
});

afterEach(() => world.close());

test('there is a sandbox on this machine: without one, these tests prove nothing', async () => {
  expect(await world.sandbox.available()).toEqual({ name: 'bubblewrap' });
});

test('a command can write in its writable roots, and nowhere else', async () => {
  const ran = await world.bash(
    `echo in > file; echo out > ${world.outside}/file; echo up > ../file; touch /etc/x /usr/x /x /var/x`,
  );
  expect(ran.stderr.match(/Read-only file system/g)).toHaveLength(6);
  expect(readFileSync(join(world.workspace, 'file'), 'utf8')).toBe('in\n');
  expect(readdirSync(world.outside)).toEqual([]);
});

test('without writable roots, nothing can be written', async () => {
  const ran = await world.bash('echo in > file', { writableRoots: [] });
  expect(ran).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'bash: line 1: file: Read-only file system\n',
  });
});

test('a remount, as root too, makes nothing writable', async () => {
  const ran = await world.bash(
    `mount -o remount,rw / ; mount -o remount,bind,rw / ; umount /proc; touch ${world.outside}/x`,
  );
  expect(ran.exitCode).toBe(1);
  expect(readdirSync(world.outside)).toEqual([]);
});

test('a hard link to a file outside cannot be created', async () => {
  const target = world.file('outside/file', 'kept');
  const ran = await world.run(['ln', target, 'link']);
  expect(ran).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining('Invalid cross-device link'),
  });
});

test('a symbolic link can lead out of a writable root, but its target stays read-only', async () => {
  symlinkSync(world.outside, join(world.workspace, 'link'));
  const ran = await world.bash('echo x > link/file');
  expect(ran.stderr).toContain('Read-only file system');
});

test('a writable root that is a symbolic link means its target, and a command can use the link as its working directory', async () => {
  const link = join(world.base, 'link');
  symlinkSync(world.workspace, link);
  const ran = await world.bash('pwd; echo x > file; mkdir .git', { writableRoots: [link] }, link);
  expect(ran).toEqual({
    exitCode: 1,
    stdout: `${link}\n`,
    stderr: expect.stringContaining('.git'),
  });
  expect(readdirSync(world.workspace)).toEqual(['file']);
});

test('a writable root that does not exist is left out, and is not created', async () => {
  const missing = join(world.base, 'missing');
  const ran = await world.bash(`touch file; mkdir ${missing}`, {
    writableRoots: [world.workspace, missing],
  });
  expect(ran.stderr).toContain('Read-only file system');
  expect(existsSync(missing)).toBe(false);
});

test('a writable root can be a file', async () => {
  const file = world.file('outside/file');
  const ran = await world.bash(`echo x > ${file}; echo y > ${world.outside}/other`, {
    writableRoots: [file],
  });
  expect(ran.stderr).toContain('other: Read-only file system');
  expect(readFileSync(file, 'utf8')).toBe('x\n');
});

test('roots inside each other are all writable, and the inner cannot be moved away', async () => {
  const inner = world.folder('work', 'a', 'inner');
  const moves = ['a', 'a/inner']
    .map((path) => `python3 -c 'import os; os.rename("${path}", "moved")'`)
    .join(';');
  const script = `touch file a/file a/inner/file; ${moves}; mkdir a/inner/.git`;
  const ran = await world.bash(script, { writableRoots: [world.workspace, inner] });
  expect(ran.stderr.match(/Device or resource busy|Invalid cross-device link/g)).toHaveLength(2);
  expect(readdirSync(world.workspace).toSorted()).toEqual(['a', 'file']);
  expect(readdirSync(inner)).toEqual(['file']);
});

test('the root of the file system can be a writable root: the kernel, the home and protected names stay protected', {
  tags: 'slow',
}, async () => {
  mkdirSync(join(world.workspace, '.git'));
  // A protected link that leads into a folder of the kernel does not make that folder writable.
  mkdirSync(join(world.workspace, 'deep'));
  symlinkSync('/proc/self/fd', join(world.workspace, 'deep/.agents'));
  const script = `touch ${world.outside}/file; touch .git/x; touch ${world.home}/x; touch /sys/x; echo 1 > /proc/sys/kernel/printk`;
  const ran = await world.bash(script, { writableRoots: ['/', world.workspace] });
  expect(readdirSync(world.outside)).toEqual(['file']);
  expect(ran.stderr.match(/Read-only file system|Permission denied/g)).toHaveLength(4);
});

test('no file becomes set-user-id or set-group-id, by any system call with a mode', async () => {
  const calls = [
    "os.chmod('f', 0o4755)",
    "os.chmod('f', 0o2755)",
    "os.fchmod(os.open('f', os.O_RDONLY), 0o4755)",
    "os.open('g', os.O_CREAT | os.O_WRONLY, 0o4755)",
    "os.mknod('h', 0o4755)",
    "os.chmod('f', 0o4755, dir_fd=os.open('.', os.O_RDONLY))",
    "syscall(452, -100, b'f', 0o4755, 0)",
    "syscall(437, -100, b'i', b'\\\\x42' + b'\\\\0' * 7 + b'\\\\xed\\\\x09' + b'\\\\0' * 14, 24)",
  ];
  const script = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def syscall(*args):
    if libc.syscall(*args) < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
open('f', 'w').close()
for call in ${JSON.stringify(calls)}:
    try:
        eval(call)
        print('done', call)
    except OSError as error: print(error.errno)
os.chmod('f', 0o1755)
`;
  const ran = await world.run(['python3', '-c', script]);
  expect(ran).toEqual({ exitCode: 0, stdout: '1\n1\n1\n1\n1\n1\n1\n38\n', stderr: '' });
  const modes = readdirSync(world.workspace).map(
    (name) => statSync(join(world.workspace, name)).mode & 0o6000,
  );
  expect(modes).toEqual([0]);
});

test('a set-user-id program gives no further rights', async () => {
  const ran = await world.bash('grep NoNewPrivs /proc/self/status; grep CapEff /proc/self/status');
  expect(ran.stdout).toBe('NoNewPrivs:\t1\nCapEff:\t0000000000000000\n');
});

describe('the working directory of a command', () => {
  test('must exist', async () => {
    const missing = join(world.base, 'missing');
    await expect(world.bash('true', {}, missing)).rejects.toThrow(
      `cannot run in ${missing}: No such file or directory`,
    );
  });

  test('must be a folder', async () => {
    await expect(world.bash('true', {}, world.file('outside/file'))).rejects.toThrow(
      'Not a directory',
    );
  });
});

test('the error for a missing program names the program', async () => {
  await expect(world.run(['no-such-program', '--x'])).rejects.toThrow(
    'cannot run no-such-program: No such file or directory',
  );
});

test('a NUL in a path or an argument, and a relative path, are refused', async () => {
  await expect(world.run(['ls', 'a\0b'])).rejects.toThrow('NUL');
  await expect(world.bash('true', { writableRoots: ['/tmp\0/x'] })).rejects.toThrow('NUL');
  await expect(world.bash('true', { writableRoots: ['--bind'] })).rejects.toThrow(
    'is not an absolute path',
  );
});

test('only the command loads a library that the environment preloads', async () => {
  const { argv, env, release } = await world.sandbox.confine(
    {
      argv: ['env'],
      cwd: world.workspace,
      env: { PATH: '/usr/bin', LD_PRELOAD: '/x.so' },
      terminal: false,
    },
    world.bounds(),
  );
  await release();
  expect(env).toEqual({ PATH: '/usr/bin' });
  expect(argv.join(' ')).toContain('--setenv LD_PRELOAD /x.so');
});

test('a path that is removed before a command begins is left out, and the command runs', async () => {
  const nested = world.folder('work', 'deep', 'clone', '.git');
  const { argv, env, files, release } = await world.sandbox.confine(
    {
      argv: ['bash', '-c', 'touch made && echo ran'],
      cwd: world.workspace,
      env: { PATH: '/usr/bin:/bin' },
      terminal: false,
    },
    world.bounds(),
  );
  expect(argv).toContain(nested);
  rmSync(join(world.workspace, 'deep'), { recursive: true });
  const [program = '', ...rest] = argv;
  const ran = spawnSync(program, rest, {
    env,
    stdio: ['ignore', 'pipe', 'pipe', ...files],
    encoding: 'utf8',
  });
  await release();
  expect({ status: ran.status, stdout: ran.stdout, stderr: ran.stderr }).toEqual({
    status: 0,
    stdout: 'ran\n',
    stderr: '',
  });
});
