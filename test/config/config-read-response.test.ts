import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configReadResponse } from '../../src/config/config-read-response.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { load, sourcesIn } from './load.ts';
import { tempFolder } from './temp-folder.ts';

const UNSET = {
  analytics: null,
  approval_policy: null,
  browser_use: null,
  client_search_provider: null,
  compact_prompt: null,
  computer_use: null,
  desktop: null,
  developer_instructions: null,
  forced_chatgpt_workspace_id: null,
  forced_login_method: null,
  instructions: null,
  model: null,
  model_auto_compact_token_limit: null,
  model_auto_compact_token_limit_scope: null,
  model_context_window: null,
  model_provider: null,
  model_reasoning_effort: null,
  model_reasoning_summary: null,
  model_verbosity: null,
  review_model: null,
  sandbox_mode: null,
  sandbox_workspace_write: null,
  service_tier: null,
  tools: null,
  web_search: null,
};
const plain = { includeLayers: false, experimental: false };

test('without settings, every known key is null, and there are no other keys', async () => {
  expect(configReadResponse(await load(''), plain)).toEqual({
    config: UNSET,
    origins: {},
    layers: null,
  });
});

test('only clients that asked for experimental fields get experimental keys', async () => {
  const config = await load('approvals_reviewer = "auto_review"\n[apps.x]\nenabled = true\n');
  expect(configReadResponse(config, plain).config).toEqual(UNSET);
  expect(configReadResponse(config, { ...plain, experimental: true }).config).toEqual({
    ...UNSET,
    approvals_reviewer: 'auto_review',
    apps: { x: { enabled: true } },
  });
  expect(configReadResponse(await load(''), { ...plain, experimental: true }).config).toEqual({
    ...UNSET,
    approvals_reviewer: null,
    apps: null,
  });
});

test('other keys are returned as they are in the file', async () => {
  const { config } = configReadResponse(
    await load('mine = [1, { a = "b" }]\n[mcp_servers.x]\ncommand = "c"\n'),
    plain,
  );
  expect(config).toEqual({ ...UNSET, mine: [1, { a: 'b' }], mcp_servers: { x: { command: 'c' } } });
});

describe('a value that clients could not read is null', () => {
  test.each([
    'analytics = true',
    'approval_policy = "bogus"',
    'compact_prompt = 5',
    'desktop = []',
    'forced_chatgpt_workspace_id = [5]',
    'forced_login_method = "x"',
    'model = 5',
    'model_auto_compact_token_limit = 1.5',
    'model_auto_compact_token_limit_scope = "x"',
    'model_verbosity = "loud"',
    'sandbox_mode = "rw"',
    'sandbox_workspace_write = 5',
    'tools = true',
    'web_search = true',
  ])('%s', async (line) => {
    expect(configReadResponse(await load(`${line}\n`), plain).config).toEqual(UNSET);
  });

  test('in a table, only the invalid members are left out', async () => {
    const text =
      'sandbox_workspace_write = { network_access = "yes", writable_roots = ["/a"] }\ntools = { web_search = true, x = 1 }\n';
    expect(configReadResponse(await load(text), plain).config).toEqual({
      ...UNSET,
      sandbox_workspace_write: { writable_roots: ['/a'] },
      tools: { x: 1 },
    });
  });
});

test('layers, the strongest first, and the origin of each value', async () => {
  const folder = tempFolder({
    '.codex/config.toml': 'service_tier = "flex"\n',
    'x/.codex/config.toml': '',
  });
  mkdirSync(join(folder, '.git', 'refs'), { recursive: true });
  const projects = `[projects.${JSON.stringify(folder)}]\ntrust_level = "trusted"\n[projects.${JSON.stringify(join(folder, 'x'))}]\ntrust_level = "no"\n`;
  const text = `model = "user"\nprofile = "p"\nlist = [1, 2]\nsandbox_workspace_write.network_access = true\n[profiles.p]\nmodel = "profile"\n${projects}`;
  const home = tempFolder({ 'config.toml': text });
  const config = await loadConfig(
    sourcesIn(home, {
      cwd: join(folder, 'x'),
      overrides: ['model=flag', 'sandbox_workspace_write.exclude_slash_tmp=true'],
    }),
  );

  const { origins, layers } = configReadResponse(config, {
    includeLayers: true,
    experimental: false,
  });
  const version = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);
  const file = join(home, 'config.toml');
  const names = {
    flags: { type: 'sessionFlags' },
    profile: { type: 'user', file, profile: 'p' },
    inner: { type: 'project', dotCodexFolder: join(folder, 'x', '.codex') },
    outer: { type: 'project', dotCodexFolder: join(folder, '.codex') },
    user: { type: 'user', file, profile: null },
  };
  const untrusted = expect.stringContaining('is not trusted');
  expect(layers).toEqual([
    {
      name: names.flags,
      version,
      config: { model: 'flag', sandbox_workspace_write: { exclude_slash_tmp: true } },
      disabledReason: null,
    },
    { name: names.profile, version, config: { model: 'profile' }, disabledReason: null },
    { name: names.inner, version, config: {}, disabledReason: untrusted },
    { name: names.outer, version, config: { service_tier: 'flex' }, disabledReason: null },
    {
      name: names.user,
      version,
      config: expect.objectContaining({ model: 'user', profile: 'p' }),
      disabledReason: null,
    },
  ]);
  expect(origins).toEqual({
    model: { name: names.flags, version: layers?.[0]?.version },
    service_tier: { name: names.outer, version: layers?.[3]?.version },
    profile: { name: names.user, version: layers?.[4]?.version },
    'list.0': { name: names.user, version },
    'list.1': { name: names.user, version },
    'sandbox_workspace_write.network_access': { name: names.user, version },
    'sandbox_workspace_write.exclude_slash_tmp': { name: names.flags, version },
    'profiles.p.model': { name: names.user, version },
    [`projects.${folder}.trust_level`]: { name: names.user, version },
    [`projects.${join(folder, 'x')}.trust_level`]: { name: names.user, version },
    // What the trust in a project gives has its entry as the origin.
    approval_policy: { name: names.user, version },
    sandbox_mode: { name: names.user, version },
  });
});

test('the origin of a reviewer from guardian_approval is the layer that sets guardian_approval', async () => {
  const config = await load('features.guardian_approval = true\n');
  const { origins, config: values } = configReadResponse(config, {
    includeLayers: false,
    experimental: true,
  });
  expect(values.approvals_reviewer).toBe('guardian_subagent');
  expect(origins.approvals_reviewer?.name).toEqual({
    type: 'user',
    file: join(config.home, 'config.toml'),
    profile: null,
  });
});

test('the version of a layer depends on its settings, not on their notation', async () => {
  const versionOf = async (text: string) =>
    configReadResponse(await load(text), { includeLayers: true, experimental: false }).layers?.[0]
      ?.version;
  const version = await versionOf('a = 1\nb.c = "x"\n');
  expect(await versionOf("# comment\n[b]\nc = 'x'\n")).not.toBe(version);
  expect(await versionOf('b = { c = "x" } # comment\na = 0x1\n')).toBe(version);
  expect(await versionOf('a = "1"\nb.c = "x"\n')).not.toBe(version);
});

test('the response is JSON, also with keys such as __proto__', async () => {
  const answer = configReadResponse(await load('[__proto__]\nx = 1\n'), {
    includeLayers: true,
    experimental: true,
  });
  const text = JSON.stringify(answer);
  expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(answer)));
  expect(text).toContain('"__proto__":{"x":1}');
  expect(text).toContain('"__proto__.x":{"name"');
});
