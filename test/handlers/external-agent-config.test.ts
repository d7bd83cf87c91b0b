import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type {
  ExternalAgentConfigImportTypeResult,
  ExternalAgentConfigWantedItem,
} from '../../src/protocol/generated/types.ts';
import { tempFolder, writeFiles } from '../config/temp-folder.ts';
import { placeholder } from '../hooks/placeholder.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

const CONFIG =
  'model = "m"\nmodel_provider = "test"\n\n[model_providers.test]\nbase_url = "http://127.0.0.1:9"\n';
const hook = (command: string, more: object = {}) => ({
  hooks: [{ type: 'command', command, ...more }],
});
const EMPTY = {
  plugins: [],
  skills: [],
  sessions: [],
  mcpServers: [],
  hooks: [],
  subagents: [],
  commands: [],
};

/** A server, whose user has `user` as the home folder and `repo` as a repository. */
async function start(
  files: Record<string, string>,
  options: { config?: string } = {},
): Promise<TestServer & { user: string; repo: string }> {
  const folder = tempFolder({ 'repo/.git/HEAD': 'ref: refs/heads/x\n', 'user/x': '', ...files });
  const server = await startServer({
    folder,
    config: options.config ?? CONFIG,
    env: { HOME: join(folder, 'user') },
  });
  return { ...server, user: join(folder, 'user'), repo: join(folder, 'repo') };
}

type Item = ExternalAgentConfigWantedItem;
const item = (itemType: Item['itemType'], more: Partial<Item> = {}): Item => ({
  itemType,
  description: '',
  ...more,
});

/** Imports the items, and returns the results of each and the merged ones. */
async function imported(
  { client }: TestServer,
  migrationItems: Item[],
): Promise<ExternalAgentConfigImportTypeResult[]> {
  const { importId } = await client.request('externalAgentConfig/import', { migrationItems });
  const done = await client.waitFor(
    'externalAgentConfig/import/completed',
    (told) => told.importId === importId,
  );
  return done.itemTypeResults;
}

const success = (itemType: Item['itemType'], source: string, more: object = {}) => ({
  itemType,
  cwd: null,
  source,
  target: source,
  title: null,
  ...more,
});
const failure = (
  itemType: Item['itemType'],
  source: string | null,
  message: unknown,
  more: object = {},
) => ({
  itemType,
  cwd: null,
  source,
  message,
  failureStage: 'select',
  errorType: null,
  subErrorType: null,
  ...more,
});

/** All files below a folder, with their contents. */
function contents(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    names.map((entry) => [
      join(entry.parentPath, entry.name),
      readFileSync(join(entry.parentPath, entry.name), 'latin1'),
    ]),
  );
}

const SKILL = '---\nname: alpha\ndescription: d\n---\nbody\n';
const HOME_FILES = {
  'user/.claude/CLAUDE.md': 'Be brief.\n',
  'user/.claude/settings.json': JSON.stringify({
    env: { FOO: 'bar', N: 3 },
    sandbox: { enabled: true },
    hooks: { Stop: [hook('true', { timeout: 5 })] },
  }),
  'user/.claude/skills/alpha/SKILL.md': SKILL,
  'user/.claude/skills/alpha/scripts/run.sh': 'echo\n',
  'user/.claude.json': JSON.stringify({
    mcpServers: {
      web: {
        type: 'http',
        url: 'https://e.com/mcp',
        headers: { Authorization: `Bearer ${placeholder('TOK')}` },
      },
    },
  }),
};
const REPO_FILES = {
  'repo/CLAUDE.md': 'Of the repository.\n',
  'repo/.claude/settings.json': JSON.stringify({
    hooks: { PreToolUse: [{ matcher: 'Bash', ...hook('false') }] },
  }),
  'repo/.claude/skills/beta/SKILL.md': SKILL,
  'repo/.mcp.json': JSON.stringify({ mcpServers: { own: { command: './serve', args: ['-x'] } } }),
  'repo/sub/x': '',
};

describe('externalAgentConfig/detect', () => {
  test('finds nothing without folders, and reads the home folder only if it is asked to', async () => {
    const { client } = await start(HOME_FILES);
    expect(await client.request('externalAgentConfig/detect', {})).toEqual({
      items: [],
      connectors: [],
    });
    const asked = { cwds: ['/nowhere/absent', 'relative'], maxSessions: 3 };
    expect(await client.request('externalAgentConfig/detect', asked)).toEqual({
      items: [],
      connectors: [],
    });
  });

  test('lists what can be taken from the home folder and from each project once, and changes nothing', async () => {
    const server = await start({ ...HOME_FILES, ...REPO_FILES });
    const { client, user, repo, home, folder } = server;
    await client.request('config/read', {});
    const before = contents(folder);
    const asked = { includeHome: true, cwds: [join(repo, 'sub'), repo] };
    const { items } = await client.request('externalAgentConfig/detect', asked);
    const named = (member: string, name: string) => ({ ...EMPTY, [member]: [{ name }] });
    const config = join(home, 'config.toml');
    expect(items).toEqual([
      {
        itemType: 'CONFIG',
        cwd: null,
        details: null,
        description: `Migrate ${user}/.claude/settings.json into ${config}`,
      },
      {
        itemType: 'MCP_SERVER_CONFIG',
        cwd: null,
        details: named('mcpServers', 'web'),
        description: `Migrate MCP servers from ${user} into ${config}`,
      },
      {
        itemType: 'HOOKS',
        cwd: null,
        details: named('hooks', 'Stop'),
        description: `Migrate hooks from ${user}/.claude to ${home}/hooks.json`,
      },
      {
        itemType: 'SKILLS',
        cwd: null,
        details: named('skills', 'alpha'),
        description: `Migrate skills from ${user}/.claude/skills to ${home}/skills`,
      },
      {
        itemType: 'AGENTS_MD',
        cwd: null,
        details: null,
        description: `Migrate ${user}/.claude/CLAUDE.md to ${home}/AGENTS.md`,
      },
      {
        itemType: 'MCP_SERVER_CONFIG',
        cwd: repo,
        details: named('mcpServers', 'own'),
        description: `Migrate MCP servers from ${repo} into ${config}`,
      },
      {
        itemType: 'HOOKS',
        cwd: repo,
        details: named('hooks', 'PreToolUse'),
        description: `Migrate hooks from ${repo}/.claude to ${repo}/.codex/hooks.json`,
      },
      {
        itemType: 'SKILLS',
        cwd: repo,
        details: named('skills', 'beta'),
        description: `Migrate skills from ${repo}/.claude/skills to ${repo}/.agents/skills`,
      },
      {
        itemType: 'AGENTS_MD',
        cwd: repo,
        details: null,
        description: `Migrate ${repo}/CLAUDE.md to ${repo}/AGENTS.md`,
      },
    ]);
    expect(contents(folder)).toEqual(before);
  });

  test('knows one agent', async () => {
    const { client } = await start(HOME_FILES);
    const { items } = await client.request('externalAgentConfig/detect', {
      includeHome: true,
      source: 'claude-code',
    });
    expect(items).toHaveLength(5);
    expect(
      await client.request('externalAgentConfig/detect', { includeHome: true, source: 'other' }),
    ).toEqual({
      items: [],
      connectors: [],
    });
    expect(
      await client.refusal('externalAgentConfig/import', {
        migrationItems: [],
        migrationSource: 'other',
      }),
    ).toMatchObject({
      code: -32600,
    });
  });
});

describe('externalAgentConfig/import', () => {
  test('takes what detect lists: the response, one progress for each item, then completed by type', async () => {
    const server = await start({ ...HOME_FILES, ...REPO_FILES });
    const { client, home, repo, user } = server;
    const { items } = await client.request('externalAgentConfig/detect', {
      includeHome: true,
      cwds: [repo],
    });
    const results = await imported(server, items);
    const config = join(home, 'config.toml');
    const off =
      'switched off: to switch a hook on, set enabled = true in its [hooks.state] in config.toml';
    const set = 'config.toml has these settings now, with values as the source has them: ';
    expect(results).toEqual([
      {
        itemType: 'CONFIG',
        failures: [],
        successes: [
          success('CONFIG', `${user}/.claude/settings.json`, {
            target: config,
            title: `${set}shell_environment_policy.set.FOO, shell_environment_policy.set.N, sandbox_mode`,
          }),
        ],
      },
      {
        itemType: 'MCP_SERVER_CONFIG',
        failures: [],
        successes: [
          success('MCP_SERVER_CONFIG', 'web'),
          success('MCP_SERVER_CONFIG', 'own', { cwd: repo }),
        ],
      },
      {
        itemType: 'HOOKS',
        failures: [],
        successes: [
          success('HOOKS', 'Stop', { title: off }),
          success('HOOKS', 'PreToolUse', {
            cwd: repo,
            title: 'not in force before you trust the file',
          }),
        ],
      },
      {
        itemType: 'SKILLS',
        failures: [],
        successes: [success('SKILLS', 'alpha'), success('SKILLS', 'beta', { cwd: repo })],
      },
      {
        itemType: 'AGENTS_MD',
        failures: [],
        successes: [
          success('AGENTS_MD', `${user}/.claude/CLAUDE.md`, { target: `${home}/AGENTS.md` }),
          success('AGENTS_MD', `${repo}/CLAUDE.md`, { cwd: repo, target: `${repo}/AGENTS.md` }),
        ],
      },
    ]);
    expect(
      client
        .notifications('externalAgentConfig/import/progress')
        .flatMap((told) => told.itemTypeResults.map(({ itemType }) => itemType)),
    ).toEqual(items.map(({ itemType }) => itemType));
    expect(readFileSync(join(home, 'AGENTS.md'), 'utf8')).toBe('Be brief.\n');
    expect(readFileSync(join(home, 'skills/alpha/scripts/run.sh'), 'utf8')).toBe('echo\n');
    expect(readFileSync(join(repo, '.agents/skills/beta/SKILL.md'), 'utf8')).toBe(SKILL);
    const { config: values } = await client.request('config/read', {});
    expect(values).toMatchObject({
      sandbox_mode: 'workspace-write',
      shell_environment_policy: { set: { FOO: 'bar', N: '3' } },
      mcp_servers: {
        web: { url: 'https://e.com/mcp', bearer_token_env_var: 'TOK' },
        own: { command: './serve', args: ['-x'], cwd: repo },
      },
    });
    // What is there is as it was, and no draft is left.
    expect(readFileSync(config, 'utf8')).toContain(
      '[model_providers.test]\nbase_url = "http://127.0.0.1:9"\n',
    );
    expect(readdirSync(join(home, 'skills'))).toEqual(['alpha']);
  });

  test('a second time finds nothing and takes nothing', async () => {
    const server = await start({ ...HOME_FILES, ...REPO_FILES });
    const { client, repo, folder } = server;
    const asked = { includeHome: true, cwds: [repo] };
    const { items } = await client.request('externalAgentConfig/detect', asked);
    await imported(server, items);
    const before = contents(folder);
    expect(await client.request('externalAgentConfig/detect', asked)).toEqual({
      items: [],
      connectors: [],
    });
    const again = await imported(server, items);
    expect(again.flatMap(({ successes, failures }) => [...successes, ...failures])).toEqual([]);
    expect(contents(folder)).toEqual(before);
    const { data } = await client.request('externalAgentConfig/import/readHistories', undefined);
    expect(
      data.map(({ successes, failures, providerId }) => [
        successes.length,
        failures.length,
        providerId,
      ]),
    ).toEqual([
      [0, 0, null],
      [9, 0, null],
    ]);
  });

  test('no hook runs before the user consents: those of the home are switched off, those of a trusted project are not in force', async () => {
    const folder = tempFolder({ ...HOME_FILES, ...REPO_FILES, 'repo/.git/HEAD': '' });
    const repo = join(folder, 'repo');
    const config = `${CONFIG}[projects.${JSON.stringify(repo)}]\ntrust_level = "trusted"\n`;
    const server = await startServer({ folder, config, env: { HOME: join(folder, 'user') } });
    await imported(server, [item('HOOKS'), item('HOOKS', { cwd: repo })]);
    const listed = async () =>
      (await server.client.request('hooks/list', { cwds: [repo] })).data[0]?.hooks ?? [];
    const states = (await listed()).map(({ eventName, enabled, trustStatus }) => ({
      eventName,
      enabled,
      trustStatus,
    }));
    expect(states).toEqual([
      { eventName: 'stop', enabled: false, trustStatus: 'trusted' },
      { eventName: 'preToolUse', enabled: true, trustStatus: 'untrusted' },
    ]);
    const key = (await listed()).find(({ eventName }) => eventName === 'stop')?.key;
    await server.client.request('config/value/write', {
      keyPath: `hooks.state."${key}".enabled`,
      value: true,
      mergeStrategy: 'replace',
    });
    expect((await listed()).find(({ eventName }) => eventName === 'stop')?.enabled).toBe(true);
  });

  test('the hooks of a project whose `.codex` is the home are switched off, as those of the home', async () => {
    const folder = tempFolder({
      'user/.claude/settings.json': JSON.stringify({ hooks: { Stop: [hook('true')] } }),
      'user/.codex/x': '',
    });
    symlinkSync(join(folder, 'user/.codex'), join(folder, 'home'));
    const user = join(folder, 'user');
    const server = await startServer({ folder, env: { HOME: user }, config: CONFIG });
    const title =
      'switched off: to switch a hook on, set enabled = true in its [hooks.state] in config.toml';
    expect(await imported(server, [item('HOOKS', { cwd: user })])).toEqual([
      {
        itemType: 'HOOKS',
        failures: [],
        successes: [success('HOOKS', 'Stop', { cwd: user, title })],
      },
    ]);
    const { data } = await server.client.request('hooks/list', { cwds: [user] });
    expect(data[0]?.hooks.map(({ eventName, enabled }) => ({ eventName, enabled }))).toEqual([
      { eventName: 'stop', enabled: false },
    ]);
  });

  test('only what an item names is taken', async () => {
    const servers = { one: { command: 'a' }, two: { command: 'b' } };
    const server = await start({ 'user/.claude.json': JSON.stringify({ mcpServers: servers }) });
    const results = await imported(server, [
      item('MCP_SERVER_CONFIG', { details: { mcpServers: [{ name: 'two' }, { name: 'three' }] } }),
    ]);
    expect(results).toEqual([
      {
        itemType: 'MCP_SERVER_CONFIG',
        failures: [],
        successes: [success('MCP_SERVER_CONFIG', 'two')],
      },
    ]);
    expect(await imported(server, [])).toEqual([]);
  });

  test('a sandbox mode is taken, although the trust in the folder of the server gives one', async () => {
    const folder = tempFolder({
      'user/.claude/settings.json': JSON.stringify({ sandbox: { enabled: true } }),
    });
    const trusted = `${CONFIG}[projects.${JSON.stringify(join(folder, 'work'))}]\ntrust_level = "trusted"\n`;
    const server = await startServer({
      folder,
      env: { HOME: join(folder, 'user') },
      config: trusted,
    });
    const source = join(folder, 'user/.claude/settings.json');
    const target = join(server.home, 'config.toml');
    const title =
      'config.toml has these settings now, with values as the source has them: sandbox_mode';
    expect(await imported(server, [item('CONFIG')])).toEqual([
      {
        itemType: 'CONFIG',
        failures: [],
        successes: [success('CONFIG', source, { target, title })],
      },
    ]);
    expect(readFileSync(target, 'utf8')).toContain('sandbox_mode = "workspace-write"');
  });

  test('nothing of the user is replaced', async () => {
    const own =
      `${CONFIG}sandbox_x = 1\n[mcp_servers.web]\ncommand = "mine"\n[shell_environment_policy.set]\nFOO = "mine"\n`.replace(
        'sandbox_x = 1\n',
        '',
      );
    const mine = {
      'home/AGENTS.md': 'mine',
      'home/hooks.json': JSON.stringify({ hooks: {} }),
      'home/skills/alpha/SKILL.md': 'mine',
    };
    const server = await start({ ...HOME_FILES, ...mine }, { config: own });
    const { home, user } = server;
    const results = await imported(
      server,
      (['CONFIG', 'MCP_SERVER_CONFIG', 'HOOKS', 'SKILLS', 'AGENTS_MD'] as const).map((type) =>
        item(type),
      ),
    );
    const kept = (what: string) => `${what} already, and was not changed`;
    const write = { failureStage: 'write' };
    expect(results.flatMap(({ failures }) => failures)).toEqual([
      failure(
        'CONFIG',
        `${user}/.claude/settings.json`,
        kept('shell_environment_policy.set.FOO is set in config.toml'),
        write,
      ),
      failure(
        'MCP_SERVER_CONFIG',
        'web',
        'config.toml has a server web already, which was not changed',
        write,
      ),
      failure('HOOKS', 'Stop', kept(`${home}/hooks.json exists`), write),
      failure('SKILLS', 'alpha', kept(`${home}/skills/alpha exists`), write),
      failure('AGENTS_MD', `${user}/.claude/CLAUDE.md`, kept(`${home}/AGENTS.md exists`), write),
    ]);
    for (const [path, text] of Object.entries(mine))
      expect(readFileSync(join(server.folder, path), 'utf8')).toBe(text);
    const { config: values } = await server.client.request('config/read', {});
    expect(values).toMatchObject({
      mcp_servers: { web: { command: 'mine' } },
      shell_environment_policy: { set: { FOO: 'mine', N: '3' } },
    });
  });
});

describe('what heddle cannot have is refused by itself, and the others are taken', () => {
  test.each([
    [
      'an unknown transport',
      { type: 'ws', url: 'ws://x' },
      'heddle does not have the transport "ws"',
    ],
    [
      'server-sent events',
      { type: 'sse', url: 'https://x' },
      'heddle does not have the transport "sse"',
    ],
    [
      'a variable under another name',
      { command: 'a', env: { A: placeholder('B') } },
      'env.A is the variable B under another name, which heddle cannot pass',
    ],
    [
      'a variable within a value',
      { command: 'a', env: { A: `x${placeholder('B')}` } },
      'env.A has a variable in it, which heddle does not expand',
    ],
    [
      'a variable in an argument',
      { command: 'a', args: [placeholder('B:-c')] },
      'args has a variable in it, which heddle does not expand',
    ],
    ['no command', {}, 'command is not a text'],
    ['a number as a command', { command: 5 }, 'command is not a text'],
    ['arguments that are no list', { command: 'a', args: 'b' }, 'args is not a list'],
    ['a url that is none', { url: 'x y' }, expect.stringContaining('url')],
    ['no object', 5, 'it is not an object'],
  ])('an MCP server with %s', async (_, bad, message) => {
    const good = {
      command: 'npx',
      args: ['-y'],
      env: { TOKEN: 'secret', SAME: placeholder('SAME') },
      disabled: true,
    };
    const server = await start({
      'user/.claude.json': JSON.stringify({ mcpServers: { bad, good } }),
    });
    const [result] = await imported(server, [item('MCP_SERVER_CONFIG')]);
    const title = 'config.toml has these values now, as the source has them: TOKEN';
    expect(result?.successes).toEqual([success('MCP_SERVER_CONFIG', 'good', { title })]);
    expect(result?.failures).toEqual([
      failure('MCP_SERVER_CONFIG', 'bad', message, {
        failureStage: expect.stringMatching(/select|write/),
      }),
    ]);
    const { config } = await server.client.request('config/read', {});
    expect(config.mcp_servers).toEqual({
      good: {
        command: 'npx',
        args: ['-y'],
        env: { TOKEN: 'secret' },
        env_vars: ['SAME'],
        enabled: false,
      },
    });
  });

  test('a name that is no name of a server', async () => {
    const mcpServers = {
      'a"b': { command: 'a' },
      'a b': { command: 'a' },
      __proto__x: { command: 'a' },
      'dot.ted': { command: 'a' },
    };
    const server = await start({ 'user/.claude.json': JSON.stringify({ mcpServers }) });
    const [result] = await imported(server, [item('MCP_SERVER_CONFIG')]);
    expect(result?.successes.map(({ source }) => source)).toEqual(['__proto__x', 'dot.ted']);
    expect(result?.failures.map(({ source }) => source)).toEqual(['a b', 'a"b']);
  });

  test('more servers than heddle looks at', async () => {
    const names = Array.from({ length: 102 }, (_, at) => `s${String(at).padStart(3, '0')}`);
    const mcpServers = Object.fromEntries(names.map((name) => [name, { command: 'a' }]));
    const server = await start({ 'user/.claude.json': JSON.stringify({ mcpServers }) });
    const [result] = await imported(server, [
      item('MCP_SERVER_CONFIG', { details: { mcpServers: [{ name: 's099' }, { name: 's100' }] } }),
    ]);
    expect(result?.successes.map(({ source }) => source)).toEqual(['s099']);
    const message = 'there are more than 100 servers: this one and those after it are left out';
    expect(result?.failures).toEqual([failure('MCP_SERVER_CONFIG', 's100', message)]);
  });

  test('servers in a file with a large state, and not those that are large themselves', async () => {
    const state = { history: 'x'.repeat(300_000) };
    const large = { mcpServers: { b: { command: 'x'.repeat(300_000) } } };
    const files = { 'repo/x': '' };
    const server = await start(files);
    const projects = { [server.repo]: large };
    writeFiles(server.folder, {
      'user/.claude.json': JSON.stringify({
        ...state,
        projects,
        mcpServers: { a: { command: 'a' } },
      }),
    });
    const results = await imported(server, [
      item('MCP_SERVER_CONFIG'),
      item('MCP_SERVER_CONFIG', { cwd: server.repo }),
    ]);
    expect(results.flatMap(({ successes }) => successes)).toEqual([
      success('MCP_SERVER_CONFIG', 'a'),
    ]);
    const path = join(server.user, '.claude.json');
    const message = `${path}: projects: ${server.repo}: mcpServers is larger than 262144 bytes`;
    expect(results.flatMap(({ failures }) => failures)).toEqual([
      failure('MCP_SERVER_CONFIG', path, message, { cwd: server.repo, failureStage: 'read' }),
    ]);
  });

  test('more hooks than heddle looks at', async () => {
    const hooks = { Stop: Array.from({ length: 200 }, () => hook('true')) };
    const server = await start({ 'user/.claude/settings.json': JSON.stringify({ hooks }) });
    const source = join(server.user, '.claude/settings.json');
    const message = `${source} has more than 400 hooks, groups of hooks and events`;
    expect(await imported(server, [item('HOOKS')])).toEqual([
      {
        itemType: 'HOOKS',
        successes: [],
        failures: [failure('HOOKS', source, message, { failureStage: 'read' })],
      },
    ]);
  });

  test('hooks that heddle does not have, or that need what it does not set', async () => {
    const hooks = {
      Stop: [
        {
          hooks: [
            { type: 'command', command: 'true' },
            { type: 'command', command: '$CLAUDE_PROJECT_DIR/x' },
            { type: 'other' },
          ],
        },
      ],
      Notification: [hook('true')],
      PreToolUse: 5,
      PostToolUse: [{ matcher: '(', ...hook('true') }],
    };
    const server = await start({ 'user/.claude/settings.json': JSON.stringify({ hooks }) });
    const [result] = await imported(server, [item('HOOKS')]);
    expect(result?.successes.map(({ source }) => source)).toEqual(['Stop']);
    expect(result?.failures.map(({ source, message }) => [source, message])).toEqual([
      ['Stop', 'a hook uses $CLAUDE_PROJECT_DIR, which heddle does not set'],
      ['Stop', expect.stringContaining('type')],
      ['Notification', 'heddle does not have this event'],
      ['PreToolUse', 'it is not a list'],
      ['PostToolUse', expect.stringContaining('matcher')],
    ]);
    expect(JSON.parse(readFileSync(join(server.home, 'hooks.json'), 'utf8'))).toEqual({
      hooks: { Stop: [hook('true')] },
    });
  });

  test('types and settings without a counterpart, and settings that a project cannot have', async () => {
    const settings = JSON.stringify({ model: 'x', permissions: { allow: [] }, env: { A: 'b' } });
    const server = await start({
      'user/.claude/settings.json': settings,
      'repo/.claude/settings.json': settings,
    });
    const results = await imported(server, [
      item('MEMORY'),
      item('PLUGINS'),
      item('CONFIG', { cwd: server.repo }),
      item('AGENTS_MD', { cwd: join(server.folder, 'absent') }),
    ]);
    const source = join(server.repo, '.claude/settings.json');
    const absent = join(server.folder, 'absent');
    expect(results.flatMap(({ failures, successes }) => [...successes, ...failures])).toEqual([
      failure('MEMORY', null, 'heddle does not import items of the type MEMORY'),
      failure('PLUGINS', null, 'heddle does not import items of the type PLUGINS'),
      failure('CONFIG', source, 'heddle has no counterpart of these settings: model, permissions', {
        cwd: server.repo,
      }),
      failure('CONFIG', source, 'a project cannot set these in heddle: env', { cwd: server.repo }),
      failure('AGENTS_MD', absent, 'there is no such folder', {
        cwd: absent,
        failureStage: 'read',
      }),
    ]);
  });
});

describe('hostile files', () => {
  test('a folder in a skill that cannot be listed leaves out this skill only', async () => {
    const server = await start({
      'user/.claude/skills/bad/SKILL.md': SKILL,
      'user/.claude/skills/good/SKILL.md': SKILL,
    });
    const bad = join(server.user, '.claude/skills/bad');
    // Other ways to remove it fail, because its path is too long.
    onTestFinished(() => void execFileSync('rm', ['-rf', bad]));
    const name = 'x'.repeat(250);
    const deepen = `for (let at = 0; at < 20; at++) { fs.mkdirSync('${name}'); process.chdir('${name}'); }`;
    execFileSync(process.execPath, ['-e', deepen], { cwd: bad });
    const { items } = await server.client.request('externalAgentConfig/detect', {
      includeHome: true,
    });
    expect(items.map(({ details }) => details?.skills)).toEqual([[{ name: 'good' }]]);
    const [result] = await imported(server, [item('SKILLS')]);
    expect(result?.successes).toEqual([success('SKILLS', 'good')]);
    const message = expect.stringMatching(/ cannot be read: ENAMETOOLONG/);
    expect(result?.failures).toEqual([failure('SKILLS', 'bad', message, { failureStage: 'read' })]);
  });

  const TYPES = ['CONFIG', 'MCP_SERVER_CONFIG', 'HOOKS', 'SKILLS', 'AGENTS_MD'] as const;
  const ALL = {
    'repo/CLAUDE.md': 'x',
    'repo/.claude/settings.json': '{}',
    'repo/.mcp.json': '{}',
    'repo/.claude/skills/s/SKILL.md': 'x',
  };
  const JSON_FILES = ['.claude/settings.json', '.mcp.json'];
  const damages: [string, (path: string, folder: string) => void, readonly string[], RegExp][] = [
    [
      'JSON with damage',
      (path) => writeFileSync(path, '{"hooks": "sk-secret'),
      JSON_FILES,
      /^\S+ is not valid JSON$/,
    ],
    [
      'JSON that is no object',
      (path) => writeFileSync(path, '[]'),
      JSON_FILES,
      /is not a JSON object/,
    ],
    [
      'a file of 100 MB',
      (path) => truncateSync(path, 100 * 1024 * 1024),
      [...JSON_FILES, 'CLAUDE.md', '.claude/skills/s/SKILL.md'],
      /cannot be read: /,
    ],
    [
      'a large JSON',
      (path) => writeFileSync(path, JSON.stringify({ x: 'x'.repeat(256 * 1024) })),
      JSON_FILES,
      /cannot be read: /,
    ],
    [
      'bytes that are no text',
      (path) => writeFileSync(path, Buffer.from([0xff])),
      [...JSON_FILES, 'CLAUDE.md'],
      /cannot be read: /,
    ],
  ];
  test.each(damages)('%s', async (_, damage, paths, message) => {
    const server = await start(ALL);
    for (const path of paths) damage(join(server.repo, path), server.folder);
    const asked = { cwds: [server.repo] };
    const { items } = await server.client.request('externalAgentConfig/detect', asked);
    const results = await imported(
      server,
      TYPES.map((type) => item(type, { cwd: server.repo })),
    );
    const failures = results.flatMap((one) => one.failures);
    expect(failures.length).toBeGreaterThanOrEqual(paths.length);
    for (const one of failures)
      expect(one).toMatchObject({ failureStage: 'read', message: expect.stringMatching(message) });
    // What can be read is still taken.
    expect(results.flatMap((one) => one.successes).map(({ itemType }) => itemType)).toEqual(
      items.map(({ itemType }) => itemType),
    );
  });

  test('links out of the project are neither read nor written through', async () => {
    const server = await start({
      'secret/CLAUDE.md': 'SECRET',
      'secret/s/SKILL.md': 'SECRET',
      'secret/mcp.json': JSON.stringify({ mcpServers: { a: { command: 'a' } } }),
    });
    const { repo, folder } = server;
    const secret = join(folder, 'secret');
    symlinkSync(join(secret, 'CLAUDE.md'), join(repo, 'CLAUDE.md'));
    symlinkSync(join(secret, 'mcp.json'), join(repo, '.mcp.json'));
    mkdirSync(join(repo, '.claude/skills/linked'), { recursive: true });
    writeFiles(repo, {
      '.claude/skills/linked/SKILL.md': SKILL,
      '.claude/skills/good/SKILL.md': SKILL,
      '.claude/settings.json': JSON.stringify({ hooks: { Stop: [hook('x')] } }),
    });
    symlinkSync(join(secret, 'CLAUDE.md'), join(repo, '.claude/skills/linked/more.md'));
    symlinkSync(join(secret, 's'), join(repo, '.claude/skills/outside'));
    symlinkSync(secret, join(repo, '.codex'));
    symlinkSync(secret, join(repo, '.agents'));
    const before = contents(secret);
    const results = await imported(
      server,
      TYPES.map((type) => item(type, { cwd: repo })),
    );
    expect(results.flatMap(({ successes }) => successes)).toEqual([]);
    expect(
      results.flatMap(({ failures }) => failures.map(({ itemType, source }) => [itemType, source])),
    ).toEqual([
      ['MCP_SERVER_CONFIG', join(repo, '.mcp.json')],
      ['HOOKS', 'Stop'],
      ['SKILLS', 'linked'],
      ['SKILLS', 'outside'],
      ['SKILLS', 'good'],
      ['AGENTS_MD', null],
    ]);
    expect(contents(secret)).toEqual(before);
    expect(existsSync(join(repo, 'AGENTS.md'))).toBe(false);
  });

  test('a link that leads nowhere, in the place of a file that would be written, stays', async () => {
    const server = await start({ 'repo/CLAUDE.md': 'x' });
    symlinkSync(join(server.folder, 'elsewhere.md'), join(server.repo, 'AGENTS.md'));
    const [result] = await imported(server, [item('AGENTS_MD', { cwd: server.repo })]);
    expect(result?.failures).toMatchObject([{ failureStage: 'write' }]);
    expect(existsSync(join(server.folder, 'elsewhere.md'))).toBe(false);
  });

  test('pipes are not waited for', async () => {
    const server = await start({ 'repo/.claude/x': '' });
    for (const path of ['CLAUDE.md', '.mcp.json', '.claude/settings.json'])
      execFileSync('mkfifo', [join(server.repo, path)]);
    const results = await imported(
      server,
      TYPES.map((type) => item(type, { cwd: server.repo })),
    );
    expect(
      results
        .flatMap(({ failures }) => failures)
        .every(({ message }) => message.includes('is not a regular file')),
    ).toBe(true);
  });
});
