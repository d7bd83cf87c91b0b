import { join } from 'node:path';
import { stringify } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { takeCodex } from '../../../src/cli/init/take-codex.ts';
import {
  KNOWN_TABLES,
  TOP_KEYS,
  UNSERVED_PROVIDER_KEYS,
} from '../../../src/config/keys/known-tables.ts';
import { UNSERVED_FEATURES, UNSERVED_KEYS } from '../../../src/config/keys/unserved-keys.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { configWarnings } from '../../../src/config/problems/config-warnings.ts';
import { SETTING_NAMES } from '../../../src/config/settings/settings.ts';
import { policyReads } from '../../../src/policy/policy-reads.ts';
import { load, sourcesIn } from '../../config/load.ts';
import { tempFolder } from '../../config/temp-folder.ts';

/** Takes this text of Codex's config.toml into an empty home. */
async function taken(text: string) {
  const [codex, home] = [tempFolder({ 'config.toml': text }), tempFolder()];
  const file = join(codex, 'config.toml');
  const configWith = (userText: string) => loadConfig({ ...sourcesIn(home), userText });
  const { secret, ...others } = await takeCodex(file, { configWith });
  return { codex, file, secret: [...secret.values()].flat(), places: secret, ...others };
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

test('what heddle uses is copied, without comments', async () => {
  const own = `# mine\n${PROVIDER}sandbox_mode = "workspace-write" # for now\n\n${TABLE}\n[mcp_servers.docs]\ncommand = "npx"\nargs = ["-y", "@docs/server"]\nenv_vars = ["DOCS_TOKEN"]\n`;
  const { text, file, unused, secret } = await taken(own);
  expect({ unused, secret }).toEqual({ unused: [], secret: [] });
  expect(text).toBe(`# Taken from ${file} by heddle init, without its comments.
# docs/configuration.md lists all settings.

model_provider = "work"
model = "large"
sandbox_mode = "workspace-write"

[model_providers.work]
base_url = "https://models.example.com/v1"
env_key = "WORK_KEY"

[mcp_servers.docs]
command = "npx"
args = [ "-y", "@docs/server" ]
env_vars = [ "DOCS_TOKEN" ]
`);
  expect(await warningsOf(text)).toEqual([]);
});

test('thousands of keys take a moment', async () => {
  const keys = Array.from({ length: 8_000 }, (_, index) => `unused_${index} = "x"`).join('\n');
  const { text, unused } = await taken(`${PROVIDER}${keys}\n${TABLE}`);
  expect(unused).toHaveLength(8_000);
  expect((await load(text)).get('model')).toBe('large');
}, 10_000);

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
      ['model_providers.work.query_params.v'],
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
    'an argument that no name marks': [
      `[mcp_servers.a]\ncommand = "a"\nargs = ["-k", "SECRET"]`,
      ['mcp_servers.a'],
    ],
    'an argument in the place of a word': [
      `[mcp_servers.a]\ncommand = "a"\nargs = ["SECRET"]`,
      ['mcp_servers.a'],
    ],
    'an argument after the package': [
      `[mcp_servers.a]\ncommand = "npx"\nargs = ["-y", "docs", "SECRET"]`,
      ['mcp_servers.a'],
    ],
    'the value of an option in one word': [
      `[mcp_servers.a]\ncommand = "npx"\nargs = ["docs", "-kSECRET"]`,
      ['mcp_servers.a'],
    ],
    'a line of a shell': [
      `[mcp_servers.a]\ncommand = "bash"\nargs = ["-c", "TOKEN=SECRET x"]`,
      ['mcp_servers.a'],
    ],
    'a variable in a command': [`[mcp_servers.a]\ncommand = "TOKEN=SECRET x"`, ['mcp_servers.a']],
    'a variable for env': [
      `[mcp_servers.a]\ncommand = "env"\nargs = ["TOKEN=SECRET", "x"]`,
      ['mcp_servers.a'],
    ],
    'a variable for docker': [
      `[mcp_servers.a]\ncommand = "docker"\nargs = ["run", "-e", "T=SECRET", "docs"]`,
      ['mcp_servers.a'],
    ],
    'a password for docker': [
      `[mcp_servers.a]\ncommand = "docker"\nargs = ["login", "-p", "SECRET"]`,
      ['mcp_servers.a'],
    ],
    'a URL in an argument': [
      `[mcp_servers.a]\ncommand = "npx"\nargs = ["remote", "https://a.example/SECRET"]`,
      ['mcp_servers.a'],
    ],
    'a path that is not there': [
      `[mcp_servers.a]\ncommand = "a"\nargs = ["/SECRET"]`,
      ['mcp_servers.a'],
    ],
    'the path of the URL of an MCP server': [
      `[mcp_servers.a]\nurl = "https://a.example/s/${CANARY}/mcp"`,
      ['mcp_servers.a'],
    ],
    'the host of the URL of an MCP server': [
      `[mcp_servers.a]\nurl = "https://${CANARY}.a.example/mcp"`,
      ['mcp_servers.a'],
    ],
    'the name of a variable of an MCP server': [
      `[mcp_servers.a]\ncommand = "a"\nenv_vars = ["${CANARY}"]`,
      ['mcp_servers.a'],
    ],
    'the login of an MCP server': [
      `[mcp_servers.a]\nurl = "https://a.example"\noauth.client_id = "${CANARY}"`,
      ['mcp_servers.a'],
    ],
    'a header from a variable': [
      `[model_providers.work]\nbase_url = "https://a.example/v1"\nenv_http_headers = { X = "${CANARY}" }`,
      ['model_providers.work.env_http_headers.X'],
    ],
    'a program after turns, that no name marks': [`notify = ["curl", "-k", "SECRET"]`, ['notify']],
    'the name of a table': [`[mcp_servers.${CANARY}]\ncommand = "a"`, ['mcp_servers.[hidden]']],
    'the name of a key that heddle does not know': [`${CANARY} = 1`, []],
    'a comment that no name marks': [`# SECRET`, []],
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
    'a comment after a value': [`model = "a.b" # sk-${CANARY}`, []],
    'a comment after a long string': [
      `developer_instructions = """\n# "a" ""\n\\"""" # token=${CANARY}`,
      [],
    ],
  };

  test.each(Object.entries(PLACES))('in %s are left out', async (_place, [own, left]) => {
    const { text, secret } = await taken(
      `model = "large"\n${own}\n`.replace(/^model = "large"\n(?=model = )/, ''),
    );
    expect(text).not.toMatch(/c4nary|SECRET/);
    expect(secret).toEqual(left);
    await load(text);
  });

  test('that are the names of variables, and words that only look like secrets, stay', async () => {
    const own = [
      'cli_auth_credentials_store = "file"',
      'mcp_oauth_credentials_store = "file"',
      'tool_output_token_limit = 5000',
      'developer_instructions = "Never commit a secret, and never push."',
      'notify = ["python3", "/bin/sh"]',
      TABLE.trimEnd(),
      'env_http_headers = { Authorization = "WORK_HEADER" }',
      'query_params = { api-version = "2025-04-01-preview" }',
      '[mcp_servers.a]',
      'url = "https://a.example/mcp"',
      'bearer_token_env_var = "A_TOKEN"',
      'env_http_headers = { X-Api-Key = "A_KEY" }',
      '[mcp_servers.env]',
      'command = "env"',
      '[mcp_servers.github]',
      'command = "docker"',
      'args = ["run", "-i", "--rm", "-e", "GITHUB_TOKEN", "ghcr.io/github/github-mcp-server"]',
      '[mcp_servers.files]',
      'command = "npx"',
      'args = ["-y", "@modelcontextprotocol/server-filesystem@2025.8.21", "/usr", "/tmp"]',
      '[mcp_servers.python]',
      'command = "uvx"',
      'args = ["--from", "mcp-tools", "server", "--port=8080", "--transport", "stdio"]',
      '[projects."/home/me/secrets"]',
      'trust_level = "trusted"',
      '[[hooks.PreToolUse]]',
      'matcher = "Bash|apply_patch"',
      'hooks = [{ type = "command", command = "python3 /bin/sh", timeout = 5 }]',
      '',
    ].join('\n');
    const { text, secret, unused } = await taken(own);
    expect({ secret, unused }).toEqual({ secret: [], unused: [] });
    expect((await load(text)).values).toEqual((await load(own)).values);
  });

  test('that are left out are named with the place where they belong', async () => {
    const { text, places } = await taken(
      `[mcp_servers.a]\ncommand = "a"\nenv = { T = "x" }\n[mcp_servers.b]\ncommand = "b"\nargs = ["SECRET"]\n` +
        `[model_providers.w]\nexperimental_bearer_token = "x"\nhttp_headers = { A = "x" }\n[shell_environment_policy.set]\nA = "x"\n`,
    );
    const told = [...places].map(([place, names]) => [names, place]);
    expect(new Map(told.map(([names, place]) => [String(names), place]))).toEqual(
      new Map<string, unknown>([
        [
          'mcp_servers.b',
          expect.stringMatching(/^Add these servers by hand, .*env_vars and bearer_token_env_var/),
        ],
        ['mcp_servers.a.env', expect.stringMatching(/env_vars of the server$/)],
        ['shell_environment_policy.set', 'Set these variables where heddle starts'],
        ['model_providers.w.experimental_bearer_token', expect.stringMatching(/env_key$/)],
        ['model_providers.w.http_headers', expect.stringMatching(/env_http_headers$/)],
      ]),
    );
    for (const [names, place] of told)
      expect(text).toContain(
        `# Left out, because they may have secrets. ${String(place)}:\n#   ${String(names)}\n`,
      );
  });

  const KNOWN = [
    ...TOP_KEYS.map((key) => [key]),
    ...SETTING_NAMES.map((name) => name.split('.')),
    ...KNOWN_TABLES.flatMap(({ path, keys }) =>
      keys.map((key) => [...path.map((name) => (name === '*' ? 'a' : name)), key]),
    ),
    ...[
      'command',
      'args',
      'env',
      'env_vars',
      'cwd',
      'url',
      'bearer_token_env_var',
      'http_headers',
      'env_http_headers',
      'scopes',
    ].map((key) => ['mcp_servers', 'a', key]),
  ];

  test('in the value or the name of any key are not copied', async () => {
    const values = [
      [CANARY],
      { [CANARY]: 'a' },
      { a: CANARY },
      [{ a: CANARY }],
      { a: { [CANARY]: CANARY } },
    ];
    for (const [index, path] of KNOWN.entries())
      for (const value of [CANARY, values[index % values.length]]) {
        const own = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
        const { copied, refused } = await taken(stringify(own as object)).then(
          ({ text }) => ({ copied: text, refused: '' }),
          (error: unknown) => ({ copied: '', refused: String(error) }),
        );
        expect(`${copied}${refused.includes('may have a secret') ? refused : ''}`).not.toContain(
          CANARY,
        );
      }
  }, 20_000);

  test.each([
    [
      'hooks',
      `[[hooks.PreToolUse]]\nhooks = [{ type = "command", command = "check --token ${CANARY}" }]`,
    ],
    [
      'mcp_safety_check.http_headers',
      `[mcp_safety_check]\nurl = "https://a.example"\nhttp_headers = { A = "${CANARY}" }`,
    ],
    ['hooks', `[[hooks.PreToolUse]]\nhooks = [{ type = "command", command = "check c4nary" }]`],
    ['developer_instructions', 'developer_instructions = "The password is c4nary"'],
    [
      'developer_instructions',
      `developer_instructions = "Never push. The password is password=${CANARY}"`,
    ],
  ])('in %s, which may limit the agent, refuse the whole file', async (key, own) => {
    const failure = await taken(own).catch((error: unknown) => error);
    expect(String(failure)).toContain(`${key}`);
    expect(String(failure)).toContain('may have a secret, which is not copied');
    expect(String(failure)).not.toContain('c4nary');
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
