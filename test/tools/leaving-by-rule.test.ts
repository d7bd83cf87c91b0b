// @module-tag slow
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ApprovalSession, confinedConfig, OUTSIDE } from './approval-session.ts';

const PROGRAMS = [
  'git',
  'uptime',
  'make',
  'node',
  './run.sh',
  'sh',
  'touch',
  'cp',
  'cat',
  'cd',
  '/usr/bin/make',
  'ls',
];
const RULES = PROGRAMS.map((program) => `prefix_rule(pattern=["${program}"])\n`).join('');
const DECLINE = { decision: 'decline' } as const;

interface World {
  session: ApprovalSession;
  /** The file that hostile code creates outside the workspace. */
  canary: string;
  path: (...names: string[]) => string;
  git: (folder: string, ...args: string[]) => void;
}

/**
 * A repository as the workspace, rules that allow all programs of the tests, and a script `evil.sh`
 * that leaves a mark outside.
 */
async function world(
  approvalPolicy = 'on-request',
  config = confinedConfig(approvalPolicy),
): Promise<World> {
  const session = await ApprovalSession.start({
    config,
    files: { 'home/rules/mine.rules': RULES, 'outside/note': 'a note' },
  });
  const { cwd, folder } = session.server;
  const canary = join(folder, 'outside', 'canary');
  const path = (...names: string[]) => join(cwd, ...names);
  const git = (at: string, ...args: string[]) => {
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=a@b.c', ...args], {
      cwd: join(cwd, at),
      stdio: 'ignore',
    });
  };
  writeFileSync(path('evil.sh'), `#!/bin/sh\ntouch ${canary}\n`);
  symlinkSync('/usr', path('link'));
  writeFileSync(path('run.sh'), `touch ${canary}\n`);
  writeFileSync(path('Makefile'), `all:\n\ttouch ${canary}\n`);
  for (const name of ['evil.sh', 'run.sh']) chmodSync(path(name), 0o755);
  git('.', 'init', '--initial-branch=main');
  for (const [key, value] of [
    ['user.name', 'Ada'],
    ['user.email', 'a@b.c'],
  ] as const)
    git('.', 'config', key, value);
  return { session, canary, path, git };
}

/**
 * A repository in the folder `sub`, as a sandboxed command could have made it, whose settings and
 * hooks run `evil.sh`.
 */
function plantRepository({ path, git }: World, folder = 'sub'): void {
  mkdirSync(path(folder));
  git(folder, 'init');
  git(folder, 'config', 'core.fsmonitor', path('evil.sh'));
  writeFileSync(path(folder, 'file'), '');
  for (const hook of ['pre-commit', 'post-index-change'])
    symlinkSync(path('evil.sh'), path(folder, '.git', 'hooks', hook));
}

describe('a command that a rule allows leaves the sandbox without a question', () => {
  test.each<[string, string]>([
    ['git, in a repository that commands cannot change', 'git add evil.sh'],
    ['several git commands', 'git add -A && git commit -m "all"'],
    ['git beside a program that only prints', 'git status; uptime'],
    ['a program that only creates empty files', 'touch x'],
    ['a program that only reads', 'cat evil.sh'],
    ['copying between places that commands cannot change', 'cp OUTSIDE/note OUTSIDE/copy'],
    [
      'any program, where it touches nothing that commands can change',
      'cd /etc && git --version && make --version',
    ],
  ])('%s', async (what, command) => {
    const { session, canary } = await world();
    const workdir = what.startsWith('any') ? { workdir: '/etc' } : {};
    const ran = await session.run(
      command.replaceAll('OUTSIDE', join(canary, '..')),
      { ...OUTSIDE, ...workdir },
      DECLINE,
    );
    expect({ asked: ran.asked, exitCode: ran.item?.exitCode, output: ran.output }).toMatchObject({
      asked: [],
      exitCode: 0,
    });
  });
});

describe('a command that a rule allows is asked about before it leaves the sandbox', () => {
  test.each<[string, string, object?]>([
    ['a program that reads a file of the workspace as code', 'make'],
    ['the same by its path', '/usr/bin/make all'],
    ['an interpreter with a script of the workspace', 'node run.sh'],
    ['a script of the workspace', './run.sh'],
    ['a script of the workspace, run from elsewhere', 'sh WORK/run.sh', { workdir: '/etc' }],
    [
      'a shell that reads a file of the workspace from a pipe',
      'cat WORK/run.sh | sh',
      { workdir: '/etc' },
    ],
    [
      'a program in a folder elsewhere that a link of the workspace leads to',
      'cd WORK/link && make --version',
      { workdir: '/etc' },
    ],
    ['a program that writes where commands could put a link', 'cp evil.sh x'],
    ['git with a program as an option', 'git fetch . --upload-pack=./evil.sh'],
    ['git with an abbreviated option', 'git fetch . --upload-p ./evil.sh'],
    ['git with a program for the other side', 'git push . --receive-pack=./evil.sh'],
    ['git with another repository as the remote', 'git push ./sub main'],
    ['git with a setting', 'git -c core.fsmonitor=./evil.sh status; uptime'],
    ['git with another folder', 'git -C sub status; uptime'],
    ['git with another repository', 'git --git-dir=sub/.git status; uptime'],
    ['git that runs a program', 'git grep -O./evil.sh sh; uptime'],
    ['git that runs a program for each commit', 'git rebase -x ./evil.sh HEAD'],
    ['git in a repository below the workspace', 'git add file', { workdir: 'sub' }],
    ['git that looks at the state of such a repository', 'git status; uptime', { workdir: 'sub' }],
    ['the same after cd', 'cd sub && git status && uptime'],
    ['one command of a line', 'uptime && ls && git commit -m x --allow-empty && make'],
    ['git that enters what it has just added', 'git add sub && git status && uptime'],
  ])('%s', async (_what, command, args) => {
    const hostile = await world();
    plantRepository(hostile);
    const { session, canary } = hostile;
    const ran = await session.run(
      command.replaceAll('WORK', session.server.cwd),
      { ...OUTSIDE, ...args },
      DECLINE,
    );
    expect(ran.asked).toMatchObject([
      {
        reason: expect.stringContaining(
          'It has to. A rule allows this command, but beyond the sandbox it may run',
        ),
      },
    ]);
    expect(ran.asked[0]?.proposedExecpolicyAmendment).toBeNull();
    expect(existsSync(canary)).toBe(false);
  });

  test.each<[string, (world: World) => void]>([
    [
      'whose settings start a program',
      ({ git }) => git('.', 'config', 'core.fsmonitor', './evil.sh'),
    ],
    [
      'whose settings for the working tree start a program',
      ({ path }) => {
        writeFileSync(path('.git', 'config.worktree'), '[core]\n\tfsmonitor = ./evil.sh\n');
      },
    ],
    [
      'whose settings include a file of the workspace',
      ({ git }) => git('.', 'config', 'include.path', '../settings'),
    ],
    ['whose hooks are elsewhere', ({ git }) => git('.', 'config', 'core.hooksPath', 'hooks')],
    [
      'with a hook',
      ({ path }) => symlinkSync(path('evil.sh'), path('.git', 'hooks', 'post-index-change')),
    ],
    [
      'whose settings cannot be read',
      ({ path }) => writeFileSync(path('.git', 'config'), '[core\nfsmonitor'),
    ],
    [
      'whose settings are too large',
      ({ path }) => writeFileSync(path('.git', 'config'), `#${'x'.repeat(2 ** 20)}\n`),
    ],
    [
      'with a remote that is a program',
      ({ git }) => git('.', 'remote', 'add', 'origin', 'ext::sh ./evil.sh'),
    ],
    ['with a remote in the workspace', ({ git }) => git('.', 'remote', 'add', 'origin', './sub')],
    [
      'with a submodule',
      (hostile) => {
        plantRepository(hostile);
        hostile.git(
          '.',
          '-c',
          'core.fsmonitor=false',
          'update-index',
          '--add',
          '--cacheinfo',
          `160000,${'1'.repeat(40)},sub`,
        );
      },
    ],
    ['with settings of submodules', ({ path }) => writeFileSync(path('.gitmodules'), '')],
    [
      'that is not complete, so that git looks for another',
      ({ path }) => writeFileSync(path('.git', 'HEAD'), ''),
    ],
  ])('git in a repository %s', async (_what, prepare) => {
    const hostile = await world();
    prepare(hostile);
    const ran = await hostile.session.run('git status; uptime', OUTSIDE, DECLINE);
    expect(ran.asked).toHaveLength(1);
    expect(existsSync(hostile.canary)).toBe(false);
  });

  test.each<[string, (git: string) => void]>([
    ['is a link to itself', (git) => symlinkSync('.git', git)],
    ['is a pipe', (git) => execFileSync('mkfifo', [git])],
    [
      'has pipes as its files',
      (git) => {
        for (const folder of ['objects', 'refs']) mkdirSync(join(git, folder), { recursive: true });
        execFileSync(
          'mkfifo',
          ['HEAD', 'config', 'index', 'hooks'].map((name) => join(git, name)),
        );
      },
    ],
    ['names a folder with a zero byte', (git) => writeFileSync(git, 'gitdir: /a\0b\n')],
    ['leads to an endless file', (git) => symlinkSync('/dev/zero', git)],
  ])('git in a folder whose .git %s', async (_what, plant) => {
    const { session, path } = await world();
    mkdirSync(path('sub'));
    plant(path('sub', '.git'));
    const ran = await session.run('git status; uptime', { ...OUTSIDE, workdir: 'sub' }, DECLINE);
    expect([ran.asked.length, ran.output]).toEqual([
      1,
      'The user declined this command, so it was not run.',
    ]);
  });

  test('git where the folder itself looks like a repository without a working tree', async () => {
    const hostile = await world();
    const { session, path, canary } = hostile;
    execFileSync('rm', ['-r', path('.git')]);
    for (const folder of ['objects', 'refs']) mkdirSync(path(folder));
    writeFileSync(path('HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(
      path('config'),
      `[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = ${path('evil.sh')}\n`,
    );
    expect((await session.run('git status; uptime', OUTSIDE, DECLINE)).asked).toHaveLength(1);
    expect(existsSync(canary)).toBe(false);
  });

  test('a program with more permissions in the sandbox', async () => {
    const config = `${confinedConfig('on-request')}[features]\nexec_permission_approvals = true\n`;
    const { session, canary } = await world('on-request', config);
    const wider = {
      sandbox_permissions: 'with_additional_permissions',
      additional_permissions: { file_system: { write: [join(canary, '..')] } },
    };
    expect((await session.run('make', wider, DECLINE)).asked).toHaveLength(1);
    expect(existsSync(canary)).toBe(false);
  });
});

test('under never, such a command is refused, and the refusal says why and what to do', async () => {
  const hostile = await world('never');
  plantRepository(hostile);
  const ran = await hostile.session.run('git status; uptime', { ...OUTSIDE, workdir: 'sub' });
  expect(ran.asked).toEqual([]);
  expect(ran.output).toMatch(
    /^Rejected: a rule allows this command, but .*sub.* Run it inside the sandbox, or do without it\.$/,
  );
  expect(existsSync(hostile.canary)).toBe(false);
});

test('git that only reads runs in the sandbox instead, without a question', async () => {
  const hostile = await world();
  plantRepository(hostile);
  const ran = await hostile.session.run('git status', { ...OUTSIDE, workdir: 'sub' }, DECLINE);
  expect([ran.asked, ran.item?.exitCode]).toEqual([[], 0]);
  expect(existsSync(hostile.canary)).toBe(false);
});

test.each([['on-request'], ['never'], ['untrusted']])(
  '%s: a rule that allows spares the question inside the sandbox as before',
  async (policy) => {
    const { session, canary, path } = await world(policy);
    writeFileSync(path('Makefile'), 'all:\n\ttouch made\n');
    expect((await session.run('make', {}, DECLINE)).asked).toEqual([]);
    expect([existsSync(path('made')), existsSync(canary)]).toEqual([true, false]);
  },
);
