import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { tempFolder } from '../config/temp-folder.ts';
import { configTextOf, startServer, type TestServer } from '../support/test-server.ts';

const CONFIG = `# mine

model = "m" # the model
model_provider = "test"

[model_providers.test] # local
base_url = "http://127.0.0.1:9"
`;

const replace = (keyPath: string, value: unknown) => ({
  keyPath,
  value,
  mergeStrategy: 'replace' as const,
});
const upsert = (keyPath: string, value: unknown) => ({
  keyPath,
  value,
  mergeStrategy: 'upsert' as const,
});
const refusal = (code: string, message: unknown) => ({
  code: -32600,
  message,
  data: { code: expect.any(String), config_write_error_code: code },
});

async function versionOf({ client }: TestServer): Promise<string> {
  const { layers } = await client.request('config/read', { includeLayers: true });
  return layers?.find(({ name }) => name.type === 'user')?.version ?? '';
}

/** Does something when the next draft is flushed to the disk. */
async function whileFlushing(file: string, work: () => void): Promise<void> {
  const probe = await open(file);
  const flush = vi.spyOn(Object.getPrototypeOf(probe), 'datasync');
  await probe.close();
  flush.mockImplementationOnce(() => {
    work();
    flush.mockRestore();
  });
}

describe('config/value/write', () => {
  test('changes one value, and keeps the comments and everything else', async () => {
    const server = await startServer({ config: CONFIG });
    const version = await versionOf(server);
    const written = await server.client.request('config/value/write', {
      ...replace('model', 'other'),
      expectedVersion: version,
    });
    expect(written).toEqual({
      status: 'ok',
      version: await versionOf(server),
      filePath: join(server.home, 'config.toml'),
      overriddenMetadata: null,
    });
    expect(written.version).not.toBe(version);
    expect(configTextOf(server)).toBe(CONFIG.replace('"m"', '"other"'));
  });

  test('makes the file if there is none, readable only by the user', async () => {
    const server = await startServer();
    rmSync(join(server.home, 'config.toml'));
    await server.client.request(
      'config/value/write',
      replace('sandbox_workspace_write.network_access', true),
    );
    expect(configTextOf(server)).toBe('[sandbox_workspace_write]\nnetwork_access = true\n');
    expect(statSync(join(server.home, 'config.toml')).mode & 0o777).toBe(0o600);
  });

  test('leaves a file that is empty its permissions', async () => {
    const server = await startServer({ config: '' });
    const file = join(server.home, 'config.toml');
    chmodSync(file, 0o640);
    await server.client.request('config/value/write', replace('model', 'x'));
    expect((statSync(file).mode & 0o777).toString(8)).toBe('640');
  });

  test('keeps what another program writes until the file is replaced', async () => {
    const server = await startServer({ config: CONFIG });
    const version = await versionOf(server);
    const file = join(server.home, 'config.toml');
    const other = () => writeFileSync(file, `${configTextOf(server)}# other\n`);
    await whileFlushing(file, other);
    const conflict = await server.client.refusal('config/value/write', {
      ...replace('model', 'x'),
      expectedVersion: version,
    });
    expect(conflict).toMatchObject({ data: { config_write_error_code: 'configVersionConflict' } });
    expect(configTextOf(server)).toBe(`${CONFIG}# other\n`);
    await whileFlushing(file, other);
    await server.client.request('config/value/write', replace('model', 'x'));
    expect(configTextOf(server)).toBe(`${CONFIG.replace('"m"', '"x"')}# other\n# other\n`);
    expect(readdirSync(server.home).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('null removes a key, and a key that is not there', async () => {
    const server = await startServer({ config: CONFIG });
    await server.client.request('config/value/write', replace('model', null));
    await server.client.request('config/value/write', replace('tui.nothing', null));
    expect(configTextOf(server)).toBe(CONFIG.replace('model = "m" # the model\n', ''));
  });

  test('upsert merges a table, replace replaces it', async () => {
    const server = await startServer({ config: CONFIG });
    await server.client.request(
      'config/value/write',
      upsert('model_providers.test', { name: 'T' }),
    );
    expect(configTextOf(server)).toBe(`${CONFIG}name = "T"\n`);
    await server.client.request(
      'config/value/write',
      replace('model_providers.test', { base_url: 'http://127.0.0.1:8' }),
    );
    expect(configTextOf(server)).toBe(CONFIG.replace(':9"', ':8"'));
  });

  test('takes a quoted part of a key as one name', async () => {
    const server = await startServer({ config: CONFIG });
    await server.client.request(
      'config/value/write',
      replace('projects."/a.b/c".trust_level', 'trusted'),
    );
    expect(configTextOf(server)).toContain('[projects."/a.b/c"]\ntrust_level = "trusted"\n');
  });

  test('says so if another layer overrides the value', async () => {
    const server = await startServer({ config: CONFIG, overrides: ['model=flagged'] });
    expect(await server.client.request('config/value/write', replace('model', 'x'))).toMatchObject({
      status: 'okOverridden',
      overriddenMetadata: {
        message: 'model is overridden: it is given on the command line',
        overridingLayer: { name: { type: 'sessionFlags' } },
        effectiveValue: 'flagged',
      },
    });
    expect(configTextOf(server)).toContain('model = "x"');
  });

  test('writes through a link to the file that it leads to', async () => {
    const folder = tempFolder({ 'dotfiles/heddle.toml': CONFIG, 'home/x': '' });
    const server = await startServer({ folder, config: CONFIG });
    const real = join(folder, 'dotfiles', 'heddle.toml');
    rmSync(join(server.home, 'config.toml'));
    symlinkSync(real, join(server.home, 'config.toml'));
    await server.client.request('config/value/write', replace('model', 'other'));
    expect(lstatSync(join(server.home, 'config.toml')).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, 'utf8')).toBe(CONFIG.replace('"m"', '"other"'));
  });

  test.each([
    [
      'a stale version',
      { ...replace('model', 'x'), expectedVersion: 'sha256:stale' },
      'configVersionConflict',
      /has changed since it was read/,
    ],
    [
      'another file',
      { ...replace('model', 'x'), filePath: '/etc/other.toml' },
      'configLayerReadonly',
      /only .*config.toml can be changed/,
    ],
    [
      'a relative path',
      { ...replace('model', 'x'), filePath: 'config.toml' },
      'configLayerReadonly',
      /only .*config.toml can be changed/,
    ],
    [
      'an invalid value',
      replace('approval_policy', 'bogus'),
      'configValidationError',
      /approval_policy: expected "untrusted".* found "bogus"/,
    ],
    [
      'an invalid table',
      replace('sandbox_workspace_write', { network_access: 'yes' }),
      'configValidationError',
      /expected true or false/,
    ],
    [
      'an invalid provider',
      replace('model_providers.test.base_url', 'ftp://x'),
      'configValidationError',
      /expected an http or https URL/,
    ],
    [
      'an invalid profile',
      replace('permissions.p.filesystem', { '/x': 'all' }),
      'configValidationError',
      /permissions.p.filesystem/,
    ],
    [
      'an invalid MCP server',
      replace('mcp_servers.x', { command: 5 }),
      'configValidationError',
      /mcp_servers\.x\.command: .* found 5/,
    ],
    [
      'an invalid safety check',
      replace('mcp_safety_check', 1),
      'configValidationError',
      /mcp_safety_check: expected/,
    ],
    [
      'an unknown event of hooks',
      replace('hooks.Never', []),
      'configValidationError',
      /"Never" is not an event/,
    ],
    [
      'an invalid role',
      replace('agents.mine', { description: 5 }),
      'configValidationError',
      /description: .* found 5/,
    ],
    [
      'a profile that does not exist',
      replace('profile', 'nope'),
      'configValidationError',
      /there is no table \[profiles\.nope\]/,
    ],
    [
      'an empty key',
      replace('', 1),
      'configValidationError',
      /keyPath "": expected names separated by dots/,
    ],
    ['an empty part', replace('a..b', 1), 'configValidationError', /keyPath "a..b"/],
    ['a key below a value', replace('model.x', 1), 'configValidationError', /model is not a table/],
    [
      'a null in a table',
      replace('tui', { a: [null] }),
      'configValidationError',
      /cannot contain null/,
    ],
  ])('refuses %s, and changes nothing', async (_, params, code, message) => {
    const server = await startServer({ config: CONFIG });
    expect(await server.client.refusal('config/value/write', params)).toEqual(
      refusal(code, expect.stringMatching(message)),
    );
    expect(configTextOf(server)).toBe(CONFIG);
  });

  test('refuses a file that is not TOML, with the place', async () => {
    const server = await startServer({ config: 'model = [' });
    const refused = await server.client.refusal('config/value/write', replace('model', 'x'));
    expect(refused).toEqual(
      refusal('configValidationError', expect.stringContaining('not valid TOML')),
    );
    expect(configTextOf(server)).toBe('model = [');
  });

  test('leaves a mistake that was there before, and warns of what the value needs', async () => {
    const server = await startServer({ config: `sandbox_mode = "rw"\n${CONFIG}`, model: null });
    await server.client.request('config/value/write', replace('model_provider', 'later'));
    const warning = await server.client.waitFor('configWarning', ({ summary }) =>
      summary.includes('unknown model provider: later'),
    );
    expect(warning.details).toBe('Add it before you start a thread that needs it.');
    expect(configTextOf(server)).toContain('model_provider = "later"');
  });

  test('tells which keys that it adds have no effect, and none that were there before', async () => {
    const server = await startServer({ config: `old_key = 1\n${CONFIG}` });
    await server.client.waitFor('configWarning', ({ summary }) =>
      summary.includes('old_key is not a known key'),
    );
    await server.client.request('config/value/write', replace('modle', 'x'));
    const warning = await server.client.waitFor('configWarning', ({ summary }) =>
      summary.includes('modle is not a known key'),
    );
    expect(warning).toMatchObject({
      details: 'Did you mean model?',
      path: join(server.home, 'config.toml'),
    });
    await server.client.request('config/value/write', replace('apps', { x: 1 }));
    await server.client.waitFor('configWarning', ({ summary }) =>
      summary.includes('does not use these settings: apps'),
    );
    await server.client.request('config/value/write', replace('model', 'y'));
    await server.client.request('thread/loaded/list', {});
    expect(server.client.notifications('configWarning')).toHaveLength(3);
  });

  test.each([
    [
      'a profile that is not there',
      { config: `profile = "gone"\n${CONFIG}` },
      replace('profile', null),
      CONFIG,
    ],
    [
      'another source that cannot be read',
      { config: CONFIG, overrides: ['broken'] },
      replace('model', 'n'),
      CONFIG.replace('"m"', '"n"'),
    ],
  ])('repairs the file in spite of %s', async (_, options, edit, expected) => {
    const server = await startServer(options);
    expect(await server.client.refusal('thread/start', {})).toMatchObject({
      data: { code: 'config_invalid' },
    });
    expect(await server.client.request('config/value/write', edit)).toMatchObject({ status: 'ok' });
    expect(configTextOf(server)).toBe(expected);
    const refused = await server.client.refusal(
      'config/value/write',
      replace('sandbox_mode', 'rw'),
    );
    expect(refused).toEqual(
      refusal('configValidationError', expect.stringContaining('sandbox_mode: expected one of')),
    );
  });

  test('a trial trusts nothing: the files of a project are recorded only with the write that trusts it', async () => {
    const server = await startServer({
      config: CONFIG,
      files: { 'work/.codex/config.toml': 'model = "p"\n' },
    });
    const record = join(server.home, 'heddle-trust.jsonl');
    const trust = replace(`projects."${server.cwd}".trust_level`, 'trusted');
    await server.client.refusal('config/batchWrite', {
      edits: [trust, replace('sandbox_mode', 'rw')],
    });
    expect(existsSync(record)).toBe(false);
    await server.client.request('config/value/write', trust);
    await server.client.request('config/read', {});
    expect(existsSync(record)).toBe(true);
  });

  test.each([
    [
      'an invalid value',
      'sandbox_mode = "rw"\n',
      /config\.toml:1:1: sandbox_mode: expected one of/,
    ],
    ['no TOML', 'x = [\n', /config\.toml:.*not valid TOML/],
  ])('trusts a project whose own config.toml has %s, and warns of it', async (_, text, message) => {
    const server = await startServer({
      config: CONFIG,
      files: { 'work/.codex/config.toml': text },
    });
    const trust = replace(`projects."${server.cwd}".trust_level`, 'trusted');
    expect(await server.client.request('config/value/write', trust)).toMatchObject({
      status: 'ok',
    });
    const warning = await server.client.waitFor('configWarning', ({ summary }) =>
      message.test(summary),
    );
    expect(warning.path).toBe(join(server.cwd, '.codex/config.toml'));
    expect(configTextOf(server)).toContain('trust_level = "trusted"');
  });

  const chat = `${CONFIG}wire_api = "chat"\n`;
  const hook = (more: object) => [{ hooks: [{ type: 'command', command: 'true', ...more }] }];
  test.each([
    [
      'a hook with a key that is not known',
      CONFIG,
      replace('hooks.PreToolUse', hook({ note: 'y' })),
      /"note" is ignored/,
    ],
    [
      'a limit of context that a hook cannot give',
      CONFIG,
      replace('hooks.PreCompact', hook({ additionalContextLimit: 5 })),
      /Limit is ignored/,
    ],
    [
      'a hook that cannot be asynchronous',
      CONFIG,
      replace('hooks.SessionEnd', hook({ async: true })),
      /async is ignored/,
    ],
    [
      'a keyring',
      CONFIG,
      replace('cli_auth_credentials_store', 'keyring'),
      /cli_auth_credentials_store: "keyring" has no effect/,
    ],
    [
      'a keyring for MCP',
      CONFIG,
      replace('mcp_oauth_credentials_store', 'keyring'),
      /mcp_oauth_credentials_store: "keyring" has no effect/,
    ],
    [
      'a search that the provider cannot do',
      chat,
      replace('web_search', 'live'),
      /web_search has no effect/,
    ],
  ])('accepts %s, and warns that it has no effect', async (_, config, edit, message) => {
    const server = await startServer({ config });
    expect(await server.client.request('config/value/write', edit)).toMatchObject({ status: 'ok' });
    await server.client.waitFor('configWarning', ({ summary }) => message.test(summary));
  });

  test.skipIf(process.getuid?.() === 0)(
    'refuses a file that the server may not write',
    async () => {
      const server = await startServer({ config: CONFIG });
      chmodSync(join(server.home, 'config.toml'), 0o400);
      const refused = await server.client.refusal('config/value/write', replace('model', 'x'));
      expect(refused).toEqual(
        refusal(
          'configLayerReadonly',
          expect.stringMatching(/config\.toml cannot be changed: the server may not write/),
        ),
      );
    },
  );

  test('says why the file could not be written', async () => {
    const server = await startServer({ config: CONFIG });
    const file = join(server.home, 'config.toml');
    rmSync(file);
    symlinkSync(join(server.home, 'missing', 'config.toml'), file);
    const refused = await server.client.refusal('config/value/write', replace('model', 'x'));
    expect(refused).toMatchObject({
      message: `${file} was not changed: its folder does not exist`,
      data: { code: 'file_failed' },
    });
  });

  test('never shows a key that it refuses', async () => {
    const server = await startServer({ config: CONFIG });
    const refused = await server.client.refusal(
      'config/value/write',
      replace('model_providers.test.env_key', 'sk-secret key'),
    );
    expect(refused.message).toContain(
      'expected the name of an environment variable, not the key itself',
    );
    expect(JSON.stringify(refused)).not.toContain('sk-secret');
  });
});

describe('config/batchWrite', () => {
  test('makes all edits, in their order', async () => {
    const server = await startServer({ config: CONFIG });
    const edits = [
      replace('model', 'a'),
      upsert('features', { goals: false }),
      replace('features.goals', true),
      replace('model', 'b'),
    ];
    expect(await server.client.request('config/batchWrite', { edits })).toMatchObject({
      status: 'ok',
    });
    expect(configTextOf(server)).toBe(
      `${CONFIG.replace('"m"', '"b"')}\n[features]\ngoals = true\n`,
    );
  });

  test('makes no edit if one is refused', async () => {
    const server = await startServer({ config: CONFIG });
    const edits = [replace('model', 'a'), replace('sandbox_mode', 'rw')];
    const refused = await server.client.refusal('config/batchWrite', { edits });
    expect(refused).toEqual(
      refusal('configValidationError', expect.stringContaining('sandbox_mode: expected one of')),
    );
    expect(configTextOf(server)).toBe(CONFIG);
  });

  test('refuses too many edits', async () => {
    const { client } = await startServer({ config: CONFIG });
    const edits = Array.from({ length: 201 }, () => replace('model', 'a'));
    expect(await client.refusal('config/batchWrite', { edits })).toEqual(
      refusal('configValidationError', expect.stringContaining('at most 200')),
    );
  });

  test('writes at the same time change the file one after another', async () => {
    const server = await startServer({ config: CONFIG });
    const names = Array.from({ length: 12 }, (_, index) => `key${index}`);
    await Promise.all(
      names.map((name) =>
        server.client.request('config/batchWrite', { edits: [replace(`desktop.${name}`, name)] }),
      ),
    );
    const { config } = await server.client.request('config/read', {});
    expect(config.desktop).toEqual(Object.fromEntries(names.map((name) => [name, name])));
  });

  test('reloadUserConfig gives loaded threads the new configuration, and leaves them their settings', async () => {
    const server = await startServer({ config: CONFIG });
    const { thread } = await server.client.request('thread/start', { model: 'own' });
    const edits = [replace('model', 'b'), replace('features.goals', false)];
    const goal = { threadId: thread.id, objective: 'x' };
    await server.client.request('config/batchWrite', { edits });
    await server.client.request('config/batchWrite', { edits, reloadUserConfig: true });
    const { data } = await server.client.request('experimentalFeature/list', {
      threadId: thread.id,
    });
    expect(data.find(({ name }) => name === 'goals')).toMatchObject({
      enabled: false,
      defaultEnabled: true,
    });
    expect(await server.client.refusal('thread/goal/set', goal)).toMatchObject({
      data: { code: 'goals_disabled' },
    });
    expect(await server.client.request('thread/resume', { threadId: thread.id })).toMatchObject({
      model: 'own',
    });
  });
});

describe('the order of a client', () => {
  test('what it asks after a write has the new configuration', async () => {
    const { client } = await startServer({ config: CONFIG });
    const [, started, read] = await Promise.all([
      client.request('config/value/write', replace('model', 'new')),
      client.request('thread/start', {}),
      client.request('config/read', {}),
    ]);
    expect([started.model, read.config.model]).toEqual(['new', 'new']);
  });

  test('what it asks after a login has the key', async () => {
    const { client } = await startServer({ config: '', model: null });
    const [, account, status, started] = await Promise.all([
      client.request('account/login/start', { type: 'apiKey', apiKey: 'sk-test-0123456789' }),
      client.request('account/read', {}),
      client.request('getAuthStatus', {}),
      client.request('thread/start', {}),
    ]);
    expect([account.account, status.authMethod, started.modelProvider]).toEqual([
      { type: 'apiKey' },
      'apikey',
      'openai',
    ]);
    await Promise.all([
      client.request('account/logout', undefined),
      client.request('account/read', {}),
    ]).then(([, after]) => expect(after.account).toBeNull());
  });
});
