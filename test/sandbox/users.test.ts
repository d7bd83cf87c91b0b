import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConfinedWorld } from './confined-world.ts';

const NOBODY = 65534;
const CURRENT = process.getuid?.() ?? -1;

let world: ConfinedWorld;

beforeEach(() => {
  world = new ConfinedWorld();
  chmodSync(world.base, 0o755);
  buildSync({
    entryPoints: [join(import.meta.dirname, 'confine-as-user.ts')],
    outfile: join(world.base, 'confine.mjs'),
    ...{ bundle: true, platform: 'node', format: 'esm', logLevel: 'silent' },
  });
});

afterEach(() => world.close());

function runAs(uid: number, script: string, ...pattern: string[]) {
  for (const path of [
    world.workspace,
    world.home,
    ...readdirSync(world.home).map((name) => join(world.home, name)),
  ])
    chownSync(path, uid, uid);
  const args = [join(world.base, 'confine.mjs'), world.workspace, world.home, script, ...pattern];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    ...(uid === CURRENT ? {} : { uid, gid: uid }),
    encoding: 'utf8',
    cwd: '/',
  });
  return { status, stdout, stderr };
}

const USERS: [string, number][] = [
  ['root', 0],
  ['an ordinary user', NOBODY],
];
const possible: [string, number][] = CURRENT === 0 ? USERS : [['the user who runs this', CURRENT]];
if (CURRENT !== 0)
  process.stderr.write(
    'NOT TESTED: the sandbox of root and of another user, which only root can start. Run this as root, too.\n',
  );

describe.each(possible)('as %s', (_name, uid) => {
  test('a command keeps its user, works in its root, and cannot leave its bounds', () => {
    world.file('home/auth.json', 'secret');
    const script = [
      'id -u; echo x > file; chmod 755 file; git --version > /dev/null; mktemp -p .  > /dev/null',
      'mkdir .git; chmod u+s file; mount -o remount,rw /; unshare -Ur true; echo 1 > /proc/sys/kernel/printk; echo h > /proc/sysrq-trigger',
      `cat ${world.home}/auth.json; touch ${world.home}/x ${world.outside}/x /etc/x; python3 -c 'import socket; socket.socket(socket.AF_UNIX)'`,
    ].join('\n');
    const { stdout } = runAs(uid, `(${script}) 2> /dev/null`);
    expect(stdout).toBe(`${uid}\n`);
    expect(readdirSync(world.workspace)).toEqual(['file', expect.stringMatching(/^tmp\./)]);
    expect(statSync(join(world.workspace, 'file'))).toMatchObject({ uid, mode: 0o100755 });
    expect([readdirSync(world.outside), readdirSync(world.home)]).toEqual([[], ['auth.json']]);
  });

  test('a command can write in /proc unless it is of root, who could change the kernel there', () => {
    const { stdout } = runAs(
      uid,
      '(echo 500 > /proc/self/oom_score_adj) 2> /dev/null && echo written',
    );
    expect(stdout).toBe(uid === 0 ? '' : 'written\n');
  });

  test('a command from which many files are hidden keeps its user, works in its root, and sees none of them', () => {
    for (let index = 0; index < 120; index++) world.file(`work/${index}.env`, 'secret');
    world.file('work/plain', 'plain');
    const script =
      'id -u; cat *.env plain 2>/dev/null; echo x > file; rm 1.env; mount -o remount,rw / || umount 1.env || unshare -Ur true';
    const { stdout, status } = runAs(uid, `(${script}) 2> /dev/null`, ':workspace_roots/*.env');
    expect({ stdout, status }).toEqual({ stdout: `${uid}\nplain`, status: 1 });
    expect(statSync(join(world.workspace, 'file'))).toMatchObject({ uid });
    expect(readdirSync(world.workspace)).toContain('1.env');
  });
});

test.skipIf(CURRENT !== 0)(
  "another user's closed folder with protected names among the temporary files does not stop the commands of root",
  async () => {
    const closed = world.folder('shared', 'closed');
    world.folder('shared', 'closed', '.codex');
    chmodSync(closed, 0o700);
    chownSync(closed, NOBODY, NOBODY);
    const bounds = { writableRoots: [world.workspace, world.shared] };
    expect(await world.bash('echo ran', bounds)).toEqual({
      exitCode: 0,
      stdout: 'ran\n',
      stderr: '',
    });
  },
);

test.skipIf(CURRENT !== 0).each([
  ['for their group', 0o770, 0],
  ['for those who know the names in it', 0o711, NOBODY],
])(
  "names in another user's workspace that is open to root %s are protected",
  async (_to, mode, gid) => {
    world.folder('work', 'project', '.git', 'hooks');
    chownSync(world.workspace, NOBODY, gid);
    chmodSync(world.workspace, mode);
    const script =
      'echo x > project/.git/hooks/pre-commit; echo y > project/file; cat project/file';
    expect(
      await world.bash(`(${script}) 2>/dev/null`, { writableRoots: [world.workspace] }),
    ).toMatchObject({ stdout: 'y\n' });
    expect(readdirSync(join(world.workspace, 'project', '.git', 'hooks'))).toEqual([]);
  },
);
