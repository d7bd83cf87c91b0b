import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { takeCodex } from '../../../src/cli/init/take-codex.ts';
import { configWarnings } from '../../../src/config/config-warnings.ts';
import { UNSERVED_PROVIDER_KEYS } from '../../../src/config/keys/known-tables.ts';
import { UNSERVED_FEATURES, UNSERVED_KEYS } from '../../../src/config/keys/unserved-keys.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { editToml } from '../../../src/config/writing/edit-toml.ts';
import { policyReads } from '../../../src/policy/permissions/policy-reads.ts';
import { load, sourcesIn } from '../../config/load.ts';
import { tempFolder } from '../../config/temp-folder.ts';

/** Takes this text of Codex's config.toml into an empty home. */
async function taken(text: string) {
  const [codex, home] = [tempFolder({ 'config.toml': text }), tempFolder()];
  const file = join(codex, 'config.toml');
  const configWith = (userText: string) => loadConfig({ ...sourcesIn(home), userText });
  return {
    codex,
    file,
    ...(await takeCodex(file, {
      editToml: async (before, edits) => editToml(before, edits),
      configWith,
    })),
  };
}

async function warningsOf(text: string): Promise<string[]> {
  const home = tempFolder({ 'config.toml': text });
  return (await configWarnings(sourcesIn(home, { env: { WORK_KEY: 'k' } }), policyReads)).map(
    ({ summary }) => summary,
  );
}

const PROVIDER = 'model_provider = "work"\nmodel = "large"\n';
const TABLE =
  '[model_providers.work]\nbase_url = "https://models.example.com/v1"\nenv_key = "WORK_KEY"\n';

test('what heddle uses stays as it is, with its comments', async () => {
  const own = `# mine\n${PROVIDER}sandbox_mode = "workspace-write" # for now\n\n${TABLE}\n[mcp_servers.docs]\ncommand = "docs-server"\nargs = ["--port", "1"]\nenv_vars = ["DOCS_TOKEN"]\n`;
  const { text, file, unused, secret } = await taken(own);
  expect({ unused, secret }).toEqual({ unused: [], secret: [] });
  expect(text).toBe(
    `# Taken from ${file} by heddle init. docs/configuration.md lists all settings.\n\n${own}`,
  );
  expect(await warningsOf(text)).toEqual([]);
});

test('every key that heddle does not use is left out and named, so that the file is loaded without a warning', async () => {
  const top = [...UNSERVED_KEYS].filter((key) => key !== 'tui');
  const own = [
    PROVIDER.trimEnd(),
    ...top.map((key) => `${key} = "x"`),
    'modle = "typo"',
    '[features]',
    'goals = true',
    ...[...UNSERVED_FEATURES].map((name) => `${name} = true`),
    TABLE.trimEnd(),
    ...[...UNSERVED_PROVIDER_KEYS].map((key) => `${key} = "x"`),
    '[tui]',
    'theme = "dark"',
    '[tui.more]',
    'a = [1, 2]',
    '[mcp_servers.docs]',
    'command = "docs-server"',
    'colour = "red"',
    '[tools]',
    'view_imag = true',
    '[desktop]',
    'theme = "dark"',
    '[notice]',
    'seen = true',
    '[agents]',
    'max_threds = 2',
    'max_threads = 3',
  ].join('\n');
  const { text, unused, secret } = await taken(own);
  const left = [
    ...[...top, 'tui', 'modle', 'desktop', 'notice'],
    ...[...UNSERVED_FEATURES].map((name) => `features.${name}`),
    ...[...UNSERVED_PROVIDER_KEYS].map((key) => `model_providers.work.${key}`),
    ...['mcp_servers.docs.colour', 'tools.view_imag', 'agents.max_threds'],
  ];
  expect([...unused].sort()).toEqual(left.sort());
  expect(secret).toEqual([]);
  expect(await warningsOf(text)).toEqual([]);
  const head = text.slice(0, text.indexOf('\n\n'));
  for (const name of unused) expect(head).toContain(name);
  expect(Math.max(...head.split('\n').map(({ length }) => length))).toBeLessThan(160);
  const config = await load(text);
  expect([config.get('model'), config.get('features.goals'), config.keys(['mcp_servers'])]).toEqual(
    ['large', true, ['docs']],
  );
});

describe('secrets', () => {
  const CANARY = 'c4nary0c4nary0c4nary0';
  /** By the place of the secret: the text, and the key that is left out for it. */
  const PLACES: Record<string, [text: string, left: string[]]> = {
    'a bearer token': [
      `[model_providers.work]\nbase_url = "https://a.example/v1"\nexperimental_bearer_token = "${CANARY}"`,
      ['model_providers.work.experimental_bearer_token'],
    ],
    'headers of a provider': [
      `[model_providers.work]\nbase_url = "https://a.example/v1"\nhttp_headers = { X = "${CANARY}" }`,
      ['model_providers.work.http_headers'],
    ],
    'headers of a provider as a table': [
      `[model_providers.work]\nbase_url = "https://a.example/v1"\n[model_providers.work.http_headers]\nX = "${CANARY}"`,
      ['model_providers.work.http_headers'],
    ],
    'a query': [
      `[model_providers.work]\nbase_url = "https://a.example/v1"\nquery_params = { v = "${CANARY}" }`,
      ['model_providers.work.query_params'],
    ],
    'a URL': [
      `[model_providers.work]\nbase_url = "https://me:${CANARY}@a.example/v1"`,
      ['model_providers.work.base_url'],
    ],
    'a key for its variable': [
      `[model_providers.work]\nbase_url = "https://a.example/v1"\nenv_key = "sk-${CANARY}"`,
      ['model_providers.work.env_key'],
    ],
    'the URL of OpenAI': [
      `openai_base_url = "https://a.example/v1?api_key=${CANARY}"`,
      ['openai_base_url'],
    ],
    'variables of an MCP server': [
      `[mcp_servers.a]\ncommand = "a"\nenv = { A = "${CANARY}", B = "b" }`,
      ['mcp_servers.a.env'],
    ],
    'headers of an MCP server': [
      `[mcp_servers.a]\nurl = "https://a.example/mcp"\nhttp_headers = { A = "${CANARY}" }`,
      ['mcp_servers.a.http_headers'],
    ],
    'arguments of an MCP server': [
      `[mcp_servers.a]\ncommand = "a"\nargs = ["--token", "${CANARY}"]`,
      ['mcp_servers.a'],
    ],
    'an argument of an MCP server': [
      `[mcp_servers.a]\ncommand = "a"\nargs = ["--api-key=${CANARY}"]`,
      ['mcp_servers.a'],
    ],
    'the URL of an MCP server': [
      `[mcp_servers.a]\nurl = "https://a.example/mcp?token=${CANARY}"`,
      ['mcp_servers.a'],
    ],
    'variables of commands': [
      `[shell_environment_policy]\nset = { A = "${CANARY}" }`,
      ['shell_environment_policy.set'],
    ],
    'the state of a client': [`[desktop]\nsession_token = "${CANARY}"\ntheme = "dark"`, []],
    'the state of a client, in a list': [`[desktop]\nlogins = [{ password = "${CANARY}" }]`, []],
    'a program after turns': [
      `notify = ["curl", "-H", "Authorization: Bearer ${CANARY}", "https://a.example"]`,
      ['notify'],
    ],
    'a profile': [
      `[profiles.a]\nopenai_base_url = "https://u:${CANARY}@a.example"`,
      ['profiles.a.openai_base_url'],
    ],
    'a provider of a profile': [
      `[profiles.a.model_providers.w]\nhttp_headers = { A = "${CANARY}" }`,
      ['profiles.a.model_providers.w.http_headers'],
    ],
    'a key that heddle does not use': [`[otel]\nexporter = { headers = { A = "${CANARY}" } }`, []],
    'a comment': [`# OPENAI_API_KEY = "${CANARY}"`, []],
    'a comment with a colon': [`# my password: ${CANARY}`, []],
    'a comment with a quoted key': [`# "api_key" = "${CANARY}"`, []],
    'a comment in a table for secrets': [
      `[mcp_servers.a]\ncommand = "a"\n[mcp_servers.a.env]\nA = "b"\n# B = "${CANARY}"\n# C = "${CANARY}"\n[tools]`,
      ['mcp_servers.a.env'],
    ],
    'a table for secrets that is a comment': [
      `# [mcp_servers.a.env]\n# B = "${CANARY}"\n[tools]`,
      [],
    ],
    'a comment after the beginning of a table': [`[tools] # token=${CANARY}`, []],
    'the query of a URL, under any name': [
      `[model_providers.work]\nbase_url = "https://a.example/v1?k=${CANARY}"`,
      ['model_providers.work.base_url'],
    ],
    'a comment after a value': [`model = "a#b" # sk-${CANARY}`, []],
    'a comment after a long string': [
      `developer_instructions = """\n# "a" ""\n\\"""" # token=${CANARY}`,
      [],
    ],
  };

  test.each(Object.entries(PLACES))('in %s are left out', async (_place, [own, left]) => {
    const { text, secret } = await taken(
      `model = "large"\n${own}\n`.replace(/^model = "large"\n(?=model = )/, ''),
    );
    expect(text).not.toContain(CANARY);
    expect(secret).toEqual(left);
    await load(text);
  });

  test('that are the names of variables, and words that only look like secrets, stay', async () => {
    const own = [
      'cli_auth_credentials_store = "file"',
      'mcp_oauth_credentials_store = "file"',
      'tool_output_token_limit = 5000',
      '# model_reasoning_effort = "high"',
      '# see https://a.example/docs?page=1',
      TABLE.trimEnd(),
      'env_http_headers = { Authorization = "WORK_HEADER" }',
      '[mcp_servers.a]',
      'url = "https://a.example/mcp"',
      'bearer_token_env_var = "A_TOKEN"',
      'env_http_headers = { X-Api-Key = "A_KEY" }',
      '[mcp_servers.env]',
      'command = "env"',
      '[projects."/home/me/secrets"]',
      'trust_level = "trusted"',
      '',
    ].join('\n');
    const { text, secret } = await taken(own);
    expect(secret).toEqual([]);
    expect(text.endsWith(`\n\n${own}`)).toBe(true);
  });

  test.each([
    [
      'hooks',
      `[[hooks.PreToolUse]]\nhooks = [{ type = "command", command = "check --token ${CANARY}" }]`,
    ],
    [
      'mcp_safety_check.http_headers',
      `[mcp_safety_check]\nurl = "https://a.example"\nhttp_headers = { A = "${CANARY}" }`,
    ],
    [
      'developer_instructions',
      `developer_instructions = "Never push. The password is password=${CANARY}"`,
    ],
  ])('in %s, which may limit the agent, refuse the whole file', async (key, own) => {
    const failure = await taken(own).catch((error: unknown) => error);
    expect(String(failure)).toContain(`${key}`);
    expect(String(failure)).toContain('may have a secret, which is not copied');
    expect(String(failure)).not.toContain(CANARY);
  });
});

test('lines may end as on Windows, after a byte order mark', async () => {
  const { text, unused } = await taken(
    `\ufeff# mine\r\nmodel = "large"\r\n# key = "sk-c4nary0c4nary0c4nary0"\r\n[tui]\r\ntheme = "dark"\r\n`,
  );
  expect(unused).toEqual(['tui']);
  expect(text).not.toContain('c4nary');
  expect((await load(text)).values).toEqual({ model: 'large' });
});

test('a path that is relative to the old home is made absolute', async () => {
  const { text, codex } = await taken(
    '[agents.reviewer]\ndescription = "reviews"\nconfig_file = "agents/reviewer.toml"\n',
  );
  expect(text).toContain(`config_file = ${JSON.stringify(join(codex, 'agents/reviewer.toml'))}`);
});

test.each([
  ['model = ', /not valid TOML/],
  ['model = "a"\nmodel = "b"\n', /not valid TOML/],
])('%j is refused', async (own, problem) => {
  await expect(taken(own)).rejects.toThrow(problem);
});
