import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HooksListEntry } from '../../../src/protocol/generated/types.ts';
import { hooksJson } from '../../agent/hooks/hook-server.ts';
import { idOf } from '../../support/counting-ids.ts';
import { text } from '../../support/test-client.ts';
import { TestModel } from '../../support/test-model.ts';
import { startServer, type TestServer, type TestServerOptions } from '../../support/test-server.ts';
import { done, FREE_CONFIG, modelOutput, runs } from '../../tools/command-server.ts';

/**
 * The hash that other programs give to this hook: `{"type": "command", "command": "true"}` of
 * PreToolUse.
 */
const HASH_OF_TRUE = 'sha256:a7de97b60e1412f8e936f33ad7e97c04dfe69190d43e61d14c46265643383835';
const TRUE = hooksJson({ PreToolUse: [{ command: 'true' }] });

async function listed({ client, cwd }: TestServer): Promise<HooksListEntry> {
  const { data } = await client.request('hooks/list', { cwds: [cwd] });
  expect(data.map((entry) => entry.cwd)).toEqual([cwd]);
  return data[0] as HooksListEntry;
}

const withHooks = (hooks: string, options: TestServerOptions = {}) =>
  startServer({ files: { 'home/hooks.json': hooks }, ...options });

test('hooks/list: none, and for a server without arguments its own folder', async () => {
  const server = await startServer();
  expect(await server.client.request('hooks/list', {})).toEqual({
    data: [{ cwd: server.cwd, hooks: [], warnings: [], errors: [] }],
  });
});

test('hooks/list shows every field of each kind of handler, in the order of the events', async () => {
  const hooks = {
    Stop: [
      {
        hooks: [
          { type: 'prompt', prompt: 'p' },
          { type: 'agent', prompt: 'p', timeout: 9 },
        ],
      },
    ],
    PreToolUse: [
      {
        matcher: 'Bash',
        hooks: [
          {
            type: 'command',
            command: 'true',
            timeout: 7,
            async: true,
            statusMessage: 'Checking',
            additionalContextLimit: 50,
            commandWindows: 'x',
          },
          { type: 'mcp_tool', server: 's', tool: 't', input: {} },
        ],
      },
    ],
  };
  const server = await withHooks(JSON.stringify({ description: 'mine', hooks }));
  const sourcePath = join(server.home, 'hooks.json');
  const common = {
    sourcePath,
    source: 'user',
    pluginId: null,
    environmentId: null,
    enabled: true,
    isManaged: false,
    trustStatus: 'trusted',
    currentHash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    additionalContextLimit: null,
    statusMessage: null,
    timeoutSec: 600,
    matcher: null,
  };
  expect(await listed(server)).toEqual({
    cwd: server.cwd,
    warnings: [],
    errors: [],
    hooks: [
      {
        ...common,
        key: `${sourcePath}:pre_tool_use:0:0`,
        eventName: 'preToolUse',
        handlerType: 'command',
        command: 'true',
        async: true,
        matcher: 'Bash',
        timeoutSec: 7,
        statusMessage: 'Checking',
        additionalContextLimit: 50,
        displayOrder: 0,
      },
      {
        ...common,
        key: `${sourcePath}:pre_tool_use:0:1`,
        eventName: 'preToolUse',
        handlerType: 'mcpTool',
        server: 's',
        tool: 't',
        matcher: 'Bash',
        displayOrder: 1,
      },
      {
        ...common,
        key: `${sourcePath}:stop:0:0`,
        eventName: 'stop',
        handlerType: 'prompt',
        displayOrder: 2,
      },
      {
        ...common,
        key: `${sourcePath}:stop:0:1`,
        eventName: 'stop',
        handlerType: 'agent',
        timeoutSec: 9,
        displayOrder: 3,
      },
    ],
  });
});

test('hooks/list takes the folder of a thread, refuses unknown threads and too many folders, and names relative ones', async () => {
  const server = await withHooks(TRUE);
  await server.client.request('thread/start', { cwd: server.folder });
  const { data } = await server.client.request('hooks/list', {
    threadId: idOf(1),
    cwds: ['relative'],
  });
  expect(data).toMatchObject([
    { cwd: server.folder, hooks: [{ command: 'true' }] },
    {
      cwd: 'relative',
      hooks: [],
      errors: [{ path: 'relative', message: 'expected an absolute path' }],
    },
  ]);
  expect((await server.client.refusal('hooks/list', { threadId: idOf(9) })).data.code).toBe(
    'thread_not_found',
  );
  const cwds = Array.from({ length: 101 }, () => '/');
  expect((await server.client.refusal('hooks/list', { cwds })).message).toContain('at most 100');
});

describe('what cannot be used is named', () => {
  test.each([
    ['{"hooks": {},\n  nonsense}', 'cannot be used: it is not valid JSON at line 2, column 3'],
    ['[]', 'cannot be used: it is not a JSON object'],
    ['{"hooks": []}', 'cannot be used: "hooks" is not an object'],
    ['\ufffe'.repeat(200_000), 'cannot be used'],
  ])('a file: %.20s', async (hooks, message) => {
    const server = await withHooks(hooks);
    const path = join(server.home, 'hooks.json');
    expect(await listed(server)).toMatchObject({
      hooks: [],
      errors: [{ path, message: expect.stringContaining(message) }],
    });
    const told = [{ path, summary: expect.stringContaining(message) }];
    await expect.poll(() => server.client.notifications('configWarning')).toMatchObject(told);
  });

  test.each([
    [{ PreToolUse: {} }, 'PreToolUse: expected a list'],
    [
      { PreTolUse: [] },
      '"PreTolUse" is not an event, so its hooks are not used. Did you mean PreToolUse?',
    ],
    [{ PreToolUse: [5] }, 'PreToolUse[0]: expected a table'],
    [{ PreToolUse: [{}] }, 'PreToolUse[0]: hooks: expected a list'],
    [
      { PreToolUse: [{ type: 'command', command: 'x' }] },
      'PreToolUse[0]: a hook belongs into the list "hooks" of a group',
    ],
    [
      { PreToolUse: [{ matcher: 'bash', hooks: [] }] },
      'no tool of heddle has the name "bash": did you mean "Bash"?',
    ],
    [
      { PreToolUse: [{ matcher: '[', hooks: [] }] },
      'PreToolUse[0]: the matcher "[" is not a valid regular expression',
    ],
    [
      { PreToolUse: [{ hooks: [{ type: 'wat' }] }] },
      'the type must be "command", "mcp_tool", "prompt" or "agent", found "wat"',
    ],
    [
      { PreToolUse: [{ hooks: [{ type: 'command', command: ' ' }] }] },
      'command: expected a non-empty string, so this hook is not used',
    ],
    [
      { PreToolUse: [{ hooks: [{ type: 'command', command: 'x', timeout: -1 }] }] },
      'timeout: expected a whole number, 0 or more',
    ],
    [
      { PreToolUse: [{ hooks: [{ type: 'mcp_tool', server: 's' }] }] },
      'tool: expected a non-empty string',
    ],
    [{ PreToolUse: [{ hooks: [{ type: 'prompt' }] }] }, 'prompt: expected a non-empty string'],
    [
      { SessionEnd: [{ hooks: [{ type: 'prompt', prompt: 'p' }] }] },
      'only hooks of the type "command" can run at the end of a session',
    ],
  ])('a hook: %j', async (hooks, message) => {
    const server = await withHooks(
      JSON.stringify({
        hooks: { ...hooks, Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] },
      }),
    );
    const { hooks: used, warnings } = await listed(server);
    // The other hooks of the file stay in use.
    expect(used.map(({ eventName }) => eventName)).toEqual(['stop']);
    expect(warnings).toEqual([expect.stringContaining(message)]);
    await expect
      .poll(() => server.client.notifications('configWarning').map(({ summary }) => summary))
      .toEqual(warnings);
  });

  test('keys that are not known', async () => {
    const hook = { type: 'command', command: 'true', asynk: true };
    const server = await withHooks(
      JSON.stringify({ hooks: { Stop: [{ hooks: [hook], other: 1 }] }, events: {} }),
    );
    const { hooks, warnings } = await listed(server);
    expect(hooks).toHaveLength(1);
    expect(warnings.map((warning) => warning.slice(warning.indexOf(': ') + 2))).toEqual([
      '"events" is ignored, because it is not a known key. Put the events under "hooks".',
      'Stop[0]: "other" is ignored, because it is not a known key',
      'Stop[0].hooks[0]: "asynk" is ignored, because it is not a known key. Did you mean async?',
    ]);
  });
});

describe('config.toml', () => {
  const IN_CONFIG =
    '[[hooks.PreToolUse]]\nmatcher = "Bash"\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "echo"\n';

  test('defines hooks, too', async () => {
    const server = await withHooks(TRUE, { config: FREE_CONFIG + IN_CONFIG });
    const { hooks, warnings } = await listed(server);
    expect(hooks.map(({ sourcePath, matcher }) => [sourcePath, matcher])).toEqual([
      [join(server.home, 'hooks.json'), null],
      [join(server.home, 'config.toml'), 'Bash'],
    ]);
    expect(warnings).toEqual([expect.stringContaining('it is clearer to have them in one place')]);
  });

  test('defines hooks of a profile, which have keys of their own', async () => {
    const config = `profile = "mine"\n${FREE_CONFIG}${IN_CONFIG}${IN_CONFIG.replaceAll('hooks.', 'profiles.mine.hooks.')}`;
    const server = await startServer({ config });
    const path = join(server.home, 'config.toml');
    const { hooks } = await listed(server);
    expect(hooks.map(({ key, sourcePath }) => [key, sourcePath])).toEqual([
      [`${path}:pre_tool_use:0:0`, path],
      [`${path}:profiles.mine:pre_tool_use:0:0`, path],
    ]);
  });

  test('switches hooks off, and has the hashes that the user trusts', async () => {
    const key = (folder: string) =>
      JSON.stringify(join(folder, 'home/hooks.json:pre_tool_use:0:0'));
    const first = await withHooks(TRUE);
    const state = (value: string) => ({
      config: `${FREE_CONFIG}[hooks.state.${key(first.folder)}]\n${value}\n`,
    });
    expect(await listed(first)).toMatchObject({
      hooks: [{ currentHash: HASH_OF_TRUE, trustStatus: 'trusted', enabled: true }],
    });
    const off = await first.restart(state('enabled = false'));
    expect(await listed(off)).toMatchObject({ hooks: [{ enabled: false }] });
    const trusted = await off.restart(state(`trusted_hash = "${HASH_OF_TRUE}"`));
    expect(await listed(trusted)).toMatchObject({ hooks: [{ trustStatus: 'trusted' }] });
    const changed = await trusted.restart(state('trusted_hash = "sha256:0"'));
    expect(await listed(changed)).toMatchObject({ hooks: [{ trustStatus: 'modified' }] });
    const invalid = await changed.restart(state('enabled = "no"'));
    expect((await listed(invalid)).warnings).toEqual([
      expect.stringContaining('expected a table with enabled = true or false'),
    ]);
  });

  test('a request and the command line define hooks of the session', async () => {
    const server = await startServer({
      overrides: ['hooks.Stop=[{hooks=[{type="command",command="touch ../stopped"}]}]'],
      config: FREE_CONFIG,
    });
    expect(await listed(server)).toMatchObject({
      hooks: [{ source: 'sessionFlags', eventName: 'stop' }],
    });
    const stop = [{ hooks: [{ type: 'command', command: 'echo' }] }];
    await server.client.request('thread/start', { config: { hooks: { Stop: stop } } });
    const { data } = await server.client.request('hooks/list', { threadId: idOf(1) });
    // Each has a key of its own, so each can be switched off alone.
    expect(data[0]?.hooks.map(({ key, source }) => [key, source])).toEqual([
      ['/<session-flags>/config.toml:stop:0:0', 'sessionFlags'],
      ['/<request>/config.toml:stop:0:0', 'sessionFlags'],
    ]);
  });

  test('of the system defines hooks, as those of an administrator', async () => {
    const system = { 'config.toml': IN_CONFIG.replace('"echo"', '"exit 2"') };
    const server = await startServer({
      system,
      config: FREE_CONFIG + IN_CONFIG,
      model: new TestModel(runs('touch made'), done),
    });
    const { hooks } = await listed(server);
    expect(
      hooks.map(({ source, trustStatus, isManaged }) => [source, trustStatus, isManaged]),
    ).toEqual([
      ['system', 'managed', true],
      ['user', 'trusted', false],
    ]);
    await server.client.request('thread/start', {});
    await server.client.turn(idOf(1), 'go');
    expect(modelOutput(server)).toContain('A PreToolUse hook blocked this call');
  });
});

describe('the hooks of a project', () => {
  const files = { 'work/.git/HEAD': 'ref: refs/heads/main\n', 'work/.codex/hooks.json': TRUE };
  const trusting = (folder: string) =>
    `${FREE_CONFIG}[projects.${JSON.stringify(join(folder, 'work'))}]\ntrust_level = "trusted"\n`;

  test('are not listed and do not run if the user does not trust it', async () => {
    const server = await startServer({ files, config: FREE_CONFIG });
    expect(await listed(server)).toMatchObject({ hooks: [], warnings: [], errors: [] });
  });

  test('run with the content that the user trusts only', async () => {
    const first = await startServer({ files, config: FREE_CONFIG });
    const server = await first.restart({ config: trusting(first.folder) });
    expect(await listed(server)).toMatchObject({
      hooks: [{ source: 'project', trustStatus: 'trusted' }],
    });
    const DENIES = hooksJson({ UserPromptSubmit: [{ command: 'exit 2' }] });
    const changed = await server.restart({
      config: trusting(first.folder),
      files: { 'work/.codex/hooks.json': DENIES },
    });
    const { hooks, warnings } = await listed(changed);
    expect(hooks).toMatchObject([{ eventName: 'userPromptSubmit', trustStatus: 'modified' }]);
    expect(warnings).toEqual([
      expect.stringMatching(
        /is not in force: its content has changed since you trusted it.*heddle trust/,
      ),
    ]);
    const { thread } = await changed.client.request('thread/start', {});
    expect(changed.client.notifications('warning').map(({ message }) => message)).toEqual(warnings);
    await changed.client.request('turn/start', { threadId: thread.id, input: text('go') });
    await changed.client.waitFor('turn/completed');
    expect(changed.client.notifications('hook/started')).toEqual([]);
    expect(changed.model.requests).toHaveLength(1);
  });

  test('run in its own folder, for work inside it only', async () => {
    const hooks = hooksJson({ UserPromptSubmit: [{ command: 'pwd' }] });
    const own = {
      'work/.git/HEAD': 'ref: refs/heads/main\n',
      'work/.codex/hooks.json': hooks,
      'work/in/side': '',
      'other/file': '',
    };
    const first = await startServer({ files: own, config: FREE_CONFIG });
    const server = await first.restart({
      config: trusting(first.folder),
      model: new TestModel(done, done, done),
    });
    await server.client.request('thread/start', {});
    for (const cwd of ['work/in', 'other', 'work'])
      await server.client.turn(idOf(1), 'go', { cwd: join(server.folder, cwd) });
    const folders = server.client
      .notifications('hook/completed')
      .map(({ run }) => run.entries[0]?.text);
    expect(folders).toEqual([server.cwd, server.cwd]);
  });

  test('run if the user has recorded their hash, as other programs do', async () => {
    const first = await startServer({
      files: { 'work/.git/HEAD': 'ref: refs/heads/main\n', 'work/.codex/hooks.json': '{}' },
      config: FREE_CONFIG,
    });
    const seen = await first.restart({ config: trusting(first.folder) });
    await listed(seen);
    const key = join(first.folder, 'work/.codex/hooks.json:pre_tool_use:0:0');
    const config = `${trusting(first.folder)}[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = "${HASH_OF_TRUE}"\n`;
    const server = await seen.restart({ config, files: { 'work/.codex/hooks.json': TRUE } });
    expect(await listed(server)).toMatchObject({
      hooks: [{ trustStatus: 'trusted' }],
      warnings: [],
    });
  });

  test('can be in its config.toml, which cannot set their state', async () => {
    const own =
      '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "true"\n[hooks.state."x"]\nenabled = false\n';
    const first = await startServer({
      files: { 'work/.git/HEAD': 'ref: refs/heads/main\n', 'work/.codex/config.toml': own },
      config: FREE_CONFIG,
    });
    const server = await first.restart({ config: trusting(first.folder) });
    expect(await listed(server)).toMatchObject({
      hooks: [{ source: 'project', eventName: 'stop', trustStatus: 'trusted' }],
    });
    await server.client.request('thread/start', {});
    expect(server.client.notifications('warning')[0]?.message).toContain(
      "hooks.state is ignored: a project's config.toml cannot set it",
    );
  });
});
