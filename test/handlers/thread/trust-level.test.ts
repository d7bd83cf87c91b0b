import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { trustToml } from '../../config/load.ts';
import { tempFolder, writeFiles } from '../../config/temp-folder.ts';
import { type TestClient, text } from '../../support/test-client.ts';
import { message, response, TestModel } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';

const BASE = 'model = "m"\nmodel_provider = "test"\n';
const PROVIDER = '[model_providers.test]\nbase_url = "http://127.0.0.1:9"\n';
const HOOKS = (command: string) =>
  JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: 'command', command }] }] } });
const TOML_HOOK = (command: string) =>
  `[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "${command}"\n`;

function git(cwd: string, ...args: string[]): void {
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always'];
  execFileSync('git', [...who, ...args], {
    cwd,
    stdio: 'pipe',
    env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null' },
  });
}

/** `repo` with a commit, and `wt`, a linked worktree of it. */
function world(files: Record<string, string> = {}): string {
  const base = tempFolder({ 'repo/f': 'x', 'repo/sub/deep/f': 'x', 'plain/sub/f': 'x' });
  git(join(base, 'repo'), 'init', '-q');
  git(join(base, 'repo'), 'add', '.');
  git(join(base, 'repo'), 'commit', '-qm', 'x');
  git(join(base, 'repo'), 'worktree', 'add', '-q', '../wt');
  writeFiles(base, files);
  return base;
}

interface Values {
  approvalPolicy: unknown;
  sandbox: string;
  model: string;
}

async function started(client: TestClient, cwd: string, params: object = {}): Promise<Values> {
  const { approvalPolicy, sandbox, model } = await client.request('thread/start', {
    cwd,
    ...params,
  });
  return { approvalPolicy, sandbox: sandbox.type, model };
}

const TRUSTED = { approvalPolicy: 'on-request', sandbox: 'workspaceWrite', model: 'm' };
const UNTRUSTED = { approvalPolicy: 'untrusted', sandbox: 'workspaceWrite', model: 'm' };
const DEFAULT = { approvalPolicy: 'on-request', sandbox: 'readOnly', model: 'm' };

describe('what a trust level gives', () => {
  test.each([
    ['no entry', '', '', {}, DEFAULT],
    ['trusted', '', 'trusted', {}, TRUSTED],
    ['untrusted', '', 'untrusted', {}, UNTRUSTED],
    [
      'trusted, and an approval policy of the user',
      'approval_policy = "never"\n',
      'trusted',
      {},
      { ...TRUSTED, approvalPolicy: 'never' },
    ],
    ['trusted, and a sandbox of the user', 'sandbox_mode = "read-only"\n', 'trusted', {}, DEFAULT],
    [
      'untrusted, and a sandbox of the user',
      'sandbox_mode = "read-only"\n',
      'untrusted',
      {},
      { ...UNTRUSTED, sandbox: 'readOnly' },
    ],
    [
      'trusted, and a profile of permissions',
      'default_permissions = ":read-only"\n',
      'trusted',
      {},
      DEFAULT,
    ],
    [
      'trusted, and a client that chooses the policy',
      '',
      'trusted',
      { approvalPolicy: 'never' },
      { ...TRUSTED, approvalPolicy: 'never' },
    ],
    [
      'untrusted, and a client that chooses the sandbox',
      '',
      'untrusted',
      { sandbox: 'read-only' },
      { ...UNTRUSTED, sandbox: 'readOnly' },
    ],
    [
      'trusted, and settings of the request',
      '',
      'trusted',
      { config: { sandbox_mode: 'read-only' } },
      DEFAULT,
    ],
    ['an entry of another value', '', 'yes', {}, UNTRUSTED],
  ])('%s', async (...[, top, level, params, expected]) => {
    const folder = tempFolder();
    const config = `${top}${BASE}${PROVIDER}${level === '' ? '' : trustToml(join(folder, 'work'), level)}`;
    const { client, cwd } = await startServer({ folder, config });
    expect(await started(client, cwd, params)).toEqual(expected);
  });

  test.each([
    [
      'a profile',
      {
        config: `profile = "p"\n${BASE}[profiles.p]\nsandbox_mode = "read-only"\napproval_policy = "never"\n`,
      },
    ],
    [
      'the command line',
      { config: BASE, overrides: ['sandbox_mode="read-only"', 'approval_policy="never"'] },
    ],
  ])('%s overrides it', async (_, { config, ...options }) => {
    const folder = tempFolder();
    const { client, cwd } = await startServer({
      folder,
      ...options,
      config: `${config}${PROVIDER}${trustToml(join(folder, 'work'))}`,
    });
    expect(await started(client, cwd)).toEqual({
      approvalPolicy: 'never',
      sandbox: 'readOnly',
      model: 'm',
    });
  });

  test('requirements bind it', async () => {
    const folder = tempFolder();
    const system = {
      'requirements.toml':
        'allowed_approval_policies = ["untrusted"]\nallowed_sandbox_modes = ["read-only"]\n',
    };
    const { client, cwd } = await startServer({
      folder,
      system,
      config: `${BASE}${PROVIDER}${trustToml(join(folder, 'work'))}`,
    });
    expect(await started(client, cwd)).toEqual({
      approvalPolicy: 'untrusted',
      sandbox: 'readOnly',
      model: 'm',
    });
    const { config } = await client.request('config/read', { cwd });
    expect([config.approval_policy, config.sandbox_mode]).toEqual(['untrusted', 'read-only']);
  });

  test('a project can make it stricter, and not looser', async () => {
    const folder = tempFolder({
      'work/.codex/config.toml': 'approval_policy = "never"\nsandbox_mode = "read-only"\n',
    });
    const { client, cwd } = await startServer({
      folder,
      config: `${BASE}${PROVIDER}${trustToml(join(folder, 'work'))}`,
    });
    expect(await started(client, cwd)).toEqual({ ...DEFAULT });
    expect((await client.waitFor('warning')).message).toContain(
      'approval_policy is ignored: a project can only make it stricter',
    );
  });

  test('config/read shows it, with the entry as its origin; resume and fork have it, too', async () => {
    const folder = tempFolder();
    const config = `${BASE}${PROVIDER}${trustToml(join(folder, 'work'), 'untrusted')}`;
    const { client, cwd, home } = await startServer({
      folder,
      config,
      model: new TestModel(response(message('hi'))),
    });
    const { config: values, origins } = await client.request('config/read', { cwd });
    expect([values.approval_policy, values.sandbox_mode]).toEqual(['untrusted', 'workspace-write']);
    const user = { type: 'user', file: join(home, 'config.toml'), profile: null };
    expect([origins.approval_policy?.name, origins.sandbox_mode?.name]).toEqual([user, user]);
    const { thread } = await client.request('thread/start', {});
    const { turn } = await client.request('turn/start', {
      threadId: thread.id,
      input: text('hello'),
    });
    await client.waitFor('turn/completed', (done) => done.turn.id === turn.id);
    for (const method of ['thread/resume', 'thread/fork'] as const) {
      expect(await client.request(method, { threadId: thread.id })).toMatchObject({
        approvalPolicy: 'untrusted',
        sandbox: { type: 'workspaceWrite' },
      });
    }
  });

  test('the trust in the folder of the server gives a command in another folder nothing', async () => {
    const folder = tempFolder({ 'other/x': '' });
    const config = `${BASE}${PROVIDER}${trustToml(join(folder, 'work'))}[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n`;
    const { client, cwd } = await startServer({ folder, env: process.env, config });
    const write = (at: string) =>
      client.request('command/exec', { command: ['sh', '-c', 'echo x > y'], cwd: at });
    expect((await write(cwd)).exitCode).toBe(0);
    expect((await write(join(folder, 'other'))).exitCode).not.toBe(0);
  });

  test('an entry that cannot be read is named, and threads start', async () => {
    const folder = tempFolder();
    const config = `${BASE}${PROVIDER}${trustToml(join(folder, 'work'), 'yes')}${trustToml('relative')}`;
    const { client } = await startServer({ folder, config });
    const [level, path] = [
      await client.waitFor('configWarning', ({ summary }) => summary.includes('trust_level')),
      await client.waitFor('configWarning', ({ summary }) => summary.includes('projects.relative')),
    ];
    expect(level).toMatchObject({
      summary: expect.stringContaining('expected one of "trusted", "untrusted", found "yes"'),
      details: 'The folder counts as untrusted until you correct it. Everything else works.',
    });
    expect(path.summary).toContain('expected the absolute path of a folder');
  });
});

describe('which folders an entry counts for', () => {
  test.each([
    [
      'the root of a repository',
      'repo',
      {
        repo: TRUSTED,
        'repo/sub': TRUSTED,
        'repo/sub/deep': TRUSTED,
        link: TRUSTED,
        wt: TRUSTED,
        plain: DEFAULT,
      },
    ],
    [
      'a folder in a repository',
      'repo/sub',
      { repo: DEFAULT, 'repo/sub': TRUSTED, 'repo/sub/deep': TRUSTED, wt: DEFAULT },
    ],
    ['a folder that is in no repository', 'plain', { plain: TRUSTED, 'plain/sub': DEFAULT }],
    ['a folder above repositories', '', { repo: DEFAULT, plain: DEFAULT, wt: DEFAULT }],
    ['a linked worktree', 'wt', { wt: TRUSTED, repo: DEFAULT }],
    ['a link to the repository', 'link', { link: TRUSTED, repo: TRUSTED, wt: TRUSTED }],
  ])('%s', async (_, trusted, expected) => {
    const base = world();
    symlinkSync('repo', join(base, 'link'));
    const { client } = await startServer({
      config: `${BASE}${PROVIDER}${trustToml(join(base, trusted))}`,
    });
    const found = Object.fromEntries(
      await Promise.all(
        Object.keys(expected).map(async (folder) => [
          folder,
          await started(client, join(base, folder)),
        ]),
      ),
    );
    expect(found).toEqual(expected);
  });

  test('the nearest entry decides, and one of a worktree before one of its main checkout', async () => {
    const base = world();
    const entries = [
      trustToml(join(base, 'repo')),
      trustToml(join(base, 'repo/sub'), 'untrusted'),
      trustToml(join(base, 'wt'), 'untrusted'),
    ];
    const { client } = await startServer({ config: `${BASE}${PROVIDER}${entries.join('')}` });
    const found = await Promise.all(
      ['repo', 'repo/sub', 'repo/sub/deep', 'wt'].map((folder) =>
        started(client, join(base, folder)),
      ),
    );
    expect(found).toEqual([TRUSTED, UNTRUSTED, UNTRUSTED, UNTRUSTED]);
  });

  test('an entry whose path leads to another folder than it did gives nothing, and a warning says so', async () => {
    const base = tempFolder({ 'mine/f': '', 'theirs/f': '' });
    const config = `${BASE}${PROVIDER}${trustToml(join(base, 'mine'))}`;
    const first = await startServer({ config });
    expect(await started(first.client, join(base, 'mine'))).toEqual(TRUSTED);
    renameSync(join(base, 'mine'), join(base, 'moved'));
    symlinkSync('theirs', join(base, 'mine'));
    for (const folder of ['mine', 'theirs'])
      expect(await started(first.client, join(base, folder))).toEqual(DEFAULT);
    const warning = await first.client.waitFor('warning');
    expect(warning.message).toContain(
      `not in force: the path leads to ${join(base, 'theirs')}, and led to ${join(base, 'mine')}`,
    );
  });
});

describe('an entry for a folder counts before one whose path leads to the folder since a command has put a link there', () => {
  test.each([
    ['trusted', 'untrusted', UNTRUSTED],
    ['untrusted', 'trusted', TRUSTED],
  ])('that is %s, and an entry for the folder that is %s', async (level, own, expected) => {
    const base = tempFolder({ 'mine/f': '', 'theirs/f': '' });
    const entries = [trustToml(join(base, 'theirs'), own), trustToml(join(base, 'mine'), level)];
    const { client } = await startServer({ config: `${BASE}${PROVIDER}${entries.join('')}` });
    const before = await started(client, join(base, 'theirs'));
    renameSync(join(base, 'mine'), join(base, 'moved'));
    symlinkSync('theirs', join(base, 'mine'));
    expect([before, await started(client, join(base, 'theirs'))]).toEqual([expected, expected]);
  });
});

describe('a linked worktree of a trusted repository', () => {
  const files = {
    'repo/.codex/hooks.json': HOOKS('main-json'),
    'repo/.codex/config.toml': `model = "main"\n${TOML_HOOK('main-toml')}`,
    'wt/.codex/hooks.json': HOOKS('wt-json'),
    'wt/.codex/config.toml': `model = "wt"\n${TOML_HOOK('wt-toml')}`,
    'wt/.agents/skills/s/SKILL.md': '---\nname: s\ndescription: d\n---\n',
  };

  test('has its own settings and skills, and the hooks of the main checkout', async () => {
    const base = world(files);
    const { client } = await startServer({
      config: `${BASE}${PROVIDER}${trustToml(join(base, 'repo'))}`,
    });
    const wt = join(base, 'wt');
    expect(await started(client, wt)).toEqual({ ...TRUSTED, model: 'wt' });
    const { data } = await client.request('hooks/list', { cwds: [wt] });
    const hooks = data[0]?.hooks.map((hook) => ({
      command: 'command' in hook && hook.command,
      sourcePath: hook.sourcePath,
      trustStatus: hook.trustStatus,
    }));
    expect(hooks).toEqual([
      {
        command: 'main-json',
        sourcePath: join(base, 'repo/.codex/hooks.json'),
        trustStatus: 'trusted',
      },
      {
        command: 'main-toml',
        sourcePath: join(base, 'repo/.codex/config.toml'),
        trustStatus: 'trusted',
      },
    ]);
    const skills = await client.request('skills/list', { cwds: [wt] });
    expect(skills.data[0]?.skills.map(({ name }) => name)).toContain('s');
    const { layers } = await client.request('config/read', { cwd: wt, includeLayers: true });
    expect(
      layers?.flatMap(({ name }) => (name.type === 'project' ? [name.dotCodexFolder] : [])),
    ).toEqual([join(wt, '.codex')]);
  });

  test('that git knows by a relative path has its own settings', async () => {
    const base = world(files);
    writeFileSync(join(base, 'repo/.git/worktrees/wt/gitdir'), '../../../../wt/.git\n');
    writeFileSync(join(base, 'wt/.git'), 'gitdir: ../repo/.git/worktrees/wt\n');
    git(join(base, 'wt'), 'status');
    const { client } = await startServer({
      config: `${BASE}${PROVIDER}${trustToml(join(base, 'repo'))}`,
    });
    await started(client, join(base, 'repo'));
    expect(await started(client, join(base, 'wt'))).toEqual({ ...TRUSTED, model: 'wt' });
  });

  test('that is new has the settings that its main checkout is trusted with, and no others', async () => {
    const base = world({ 'repo/.codex/config.toml': 'model = "main"\n' });
    const repo = join(base, 'repo');
    git(repo, 'add', '.');
    git(repo, 'commit', '-qm', 'y');
    const { client } = await startServer({ config: `${BASE}${PROVIDER}${trustToml(repo)}` });
    expect(await started(client, repo)).toEqual({ ...TRUSTED, model: 'main' });
    git(repo, 'worktree', 'add', '-q', '../later');
    const later = join(base, 'later');
    expect(await started(client, later)).toEqual({ ...TRUSTED, model: 'main' });
    writeFiles(later, { '.codex/config.toml': 'model = "other"\n' });
    expect(await started(client, later)).toEqual(TRUSTED);
    const warning = await client.waitFor('warning');
    expect(warning.message).toContain(
      `${join(later, '.codex/config.toml')} is not in force: its content`,
    );
  });
});

describe('a folder that only looks like a linked worktree of a trusted repository is not trusted', () => {
  const forged: [string, (base: string, folder: string) => void][] = [
    [
      'a .git file that names the git folder of a worktree',
      (base, at) => write(at, `gitdir: ${base}/repo/.git/worktrees/wt\n`),
    ],
    [
      'a .git file that names the repository',
      (base, at) => write(at, `gitdir: ${base}/repo/.git\n`),
    ],
    [
      'a .git file that names the folder of worktrees',
      (base, at) => write(at, `gitdir: ${base}/repo/.git/worktrees\n`),
    ],
    [
      'a link to the .git of a worktree',
      (base, at) => symlinkSync(join(base, 'wt/.git'), join(at, '.git')),
    ],
    [
      'a link to the repository',
      (base, at) => symlinkSync(join(base, 'repo/.git'), join(at, '.git')),
    ],
    ['a copy of a worktree', (base, at) => cpSync(join(base, 'wt'), at, { recursive: true })],
    [
      'a git folder of its own whose commondir is the repository',
      (base, at) => {
        write(at, `gitdir: ${at}/gd\n`);
        writeFiles(join(at, 'gd'), {
          gitdir: `${at}/.git\n`,
          commondir: `${base}/repo/.git\n`,
          HEAD: 'ref: refs/heads/x\n',
        });
      },
    ],
    [
      'a git folder of its own below a folder that leads to the repository',
      (base, at) => {
        writeFiles(at, {
          'g/.git/worktrees/x/gitdir': `${at}/.git\n`,
          'g/.git/worktrees/x/commondir': '../..\n',
        });
        write(at, `gitdir: ${at}/g/.git/worktrees/x\n`);
        symlinkSync(join(base, 'repo'), join(at, 'g/r'));
      },
    ],
    [
      'a submodule',
      (base, at) => {
        git(at, 'init', '-q');
        git(at, 'submodule', 'add', '-q', join(base, 'repo'), 'mod');
      },
    ],
    [
      'a worktree that the repository has forgotten',
      (base, at) => {
        rmSync(join(base, 'repo/.git/worktrees/wt'), { recursive: true });
        cpSync(join(base, 'wt'), at, { recursive: true });
      },
    ],
  ];
  function write(at: string, text: string): void {
    writeFileSync(join(at, '.git'), text);
  }
  test.each(forged)('%s', async (what, forge) => {
    const base = world();
    const at = join(base, 'forged');
    mkdirSync(at);
    forge(base, at);
    writeFiles(at, {
      '.codex/config.toml': 'model = "evil"\n',
      'mod/.codex/config.toml': 'model = "evil"\n',
    });
    const { client } = await startServer({
      config: `${BASE}${PROVIDER}${trustToml(join(base, 'repo'))}`,
    });
    expect(await started(client, what === 'a submodule' ? join(at, 'mod') : at)).toEqual(DEFAULT);
  });
});
