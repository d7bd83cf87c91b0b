import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfinedWorld } from './confined-world.ts';

let world: ConfinedWorld;

beforeEach(() => {
  world = new ConfinedWorld();
  world.file('outside/file', 'outside');
  world.file('work/file', 'inside');
});

afterEach(() => world.close());

function roots(...more: string[]) {
  return { readable: { roots: [world.workspace, ...more], platformDefaults: true } };
}

test('only the readable roots and the platform defaults are visible', async () => {
  const ran = await world.bash(
    `cat file; ls ${world.base}; cat ${world.outside}/file; ls /`,
    roots(),
  );
  const top = ran.stdout.split('\n');
  expect(top[0]).toBe('insidework');
  expect(
    top.filter((name) => ['root', 'home', 'var', 'run', 'sys', 'srv', 'mnt'].includes(name)),
  ).toEqual([]);
  expect(ran.stderr).toContain('No such file');
});

test('a readable root is not writable, and a writable root is readable', async () => {
  const ran = await world.bash(
    `cat ${world.outside}/file; echo x > ${world.outside}/file; echo x > new; cat new`,
    roots(world.outside),
  );
  expect(ran).toEqual({
    exitCode: 0,
    stdout: 'outsidex\n',
    stderr: expect.stringContaining('Read-only file system'),
  });
});

test('nothing can be created beside them', async () => {
  const ran = await world.bash(`mkdir /new ${world.base}/new /usr/new`, roots());
  expect(ran.stderr.match(/Read-only file system/g)).toHaveLength(3);
});

test("the system's secrets are not there, for root either", async () => {
  const secrets =
    'cat /etc/shadow /etc/gshadow /etc/sudoers; ls -A /etc/ssl/private /etc/ssh /etc/sudoers.d';
  const ran = await world.bash(
    `(${secrets}) 2> /dev/null | grep -v '^/etc/.*:$'; cat /etc/passwd > /dev/null && echo readable`,
    roots(),
  );
  expect(ran.stdout.trim()).toBe('readable');
});

test('a readable root that is a symbolic link is visible under both paths', async () => {
  const link = join(world.base, 'link');
  symlinkSync(world.outside, link);
  const ran = await world.bash(`cat ${link}/file ${world.outside}/file`, roots(link));
  expect(ran).toEqual({ exitCode: 0, stdout: 'outsideoutside', stderr: '' });
});

test('a symbolic link in a root shows nothing outside the roots', async () => {
  symlinkSync(world.outside, join(world.workspace, 'link'));
  expect((await world.bash('cat link/file', roots())).exitCode).toBe(1);
});

test('a working directory that cannot be read is refused', async () => {
  await expect(world.bash('true', roots(), world.outside)).rejects.toThrow(
    `${world.outside}: this folder cannot be read in the sandbox`,
  );
});

test('without the platform defaults, a command sees only its roots', async () => {
  const readable = {
    roots: [world.workspace, dirname('/usr/bin'), '/lib', '/lib64'],
    platformDefaults: false,
  };
  expect(await world.run(['/usr/bin/cat', 'file'], { readable })).toEqual({
    exitCode: 0,
    stdout: 'inside',
    stderr: '',
  });
  expect((await world.run(['/usr/bin/ls', '/etc'], { readable })).exitCode).toBe(2);
});

test('a program that cannot be read in the sandbox does not start', async () => {
  mkdirSync(join(world.outside, 'bin'));
  world.file('outside/bin/tool', '#!/bin/sh\n');
  const ran = await world.run(['sh', '-c', `sh ${world.outside}/bin/tool`], roots());
  expect(ran.exitCode).not.toBe(0);
});
