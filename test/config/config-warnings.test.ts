import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configWarnings } from '../../src/config/problems/config-warnings.ts';
import { sourcesIn } from './load.ts';
import { tempFolder } from './temp-folder.ts';

const REFUSED =
  'The server refuses threads that need it until you correct it. Everything else works.';
const EMBEDDED = {
  summary: 'No model provider is configured: answers come from the embedded model, offline.',
  details: 'Set model_provider in config.toml, or OPENAI_API_KEY in the environment.',
  path: null,
  range: null,
};
const range = (line: number, column: number, length: number) => ({
  start: { line, column },
  end: { line, column: column + length },
});

async function warningsOf(text: string, sources = {}) {
  const home = tempFolder({ 'config.toml': text });
  const path = join(home, 'config.toml');
  return {
    path,
    warnings: await configWarnings(sourcesIn(home, { env: { OPENAI_API_KEY: 'k' }, ...sources })),
  };
}

test('without a provider there is no warning that it cannot search the web', async () => {
  expect((await warningsOf('web_search = "live"\n', { env: {} })).warnings).toEqual([EMBEDDED]);
});

test('for a user of Codex, whose home is not the one of heddle', async () => {
  const user = tempFolder({ '.codex/config.toml': 'model = "m"\n' });
  const warnings = (folder: string) =>
    configWarnings(sourcesIn(join(user, folder), { env: { HOME: user } }));
  const details = `${EMBEDDED.details} To use the settings and the key of Codex, set CODEX_HOME=${join(user, '.codex')}.`;
  expect(await warnings('.heddle')).toEqual([{ ...EMBEDDED, details }]);
  expect(await warnings('named')).toEqual([EMBEDDED]);
});

test('a file that does not parse is the only warning', async () => {
  const { path, warnings } = await warningsOf('modle = 1\nmodel = [broken', { env: {} });
  expect(warnings).toEqual([
    {
      summary: `invalid config: ${path}:2:10: not valid TOML: invalid value`,
      details: REFUSED,
      path,
      range: range(2, 10, 0),
    },
  ]);
});

test('every invalid value of a known setting is reported, an invalid table only once', async () => {
  const { path, warnings } = await warningsOf(
    'model = 5\nsandbox_workspace_write = 1\nsandbox_mode = "rw"\n[model_providers.p]\nbase_url = "x"\n',
  );
  const told = warnings.map(({ summary, details, path: file, range: place }) => [
    summary.replace(/^invalid config: .*config\.toml:/, '').split(',')[0],
    details,
    file,
    place?.start.line,
  ]);
  expect(told).toEqual([
    ['1:1: model: expected a non-empty string', REFUSED, path, 1],
    ['3:1: sandbox_mode: expected one of "read-only"', REFUSED, path, 3],
    ['2:1: sandbox_workspace_write: expected a table', REFUSED, path, 2],
    ['5:1: model_providers.p.base_url: expected an http or https URL', REFUSED, path, 5],
  ]);
});

test.each([
  ['model_providers = 5\n', /model_providers: expected a table, found 5/],
  ['model_provider = "nope"\n', /unknown model provider: nope/],
  ['profile = "nope"\n', /there is no table \[profiles\.nope\]/],
])('reported once: %j', async (text, summary) => {
  expect((await warningsOf(text)).warnings.map((warning) => warning.summary)).toEqual([
    expect.stringMatching(summary),
  ]);
});

describe('unknown keys', () => {
  test.each([
    ['modle', 'model'],
    ['aproval_policy', 'approval_policy'],
    ['sandbox-mode', 'sandbox_mode'],
    ['model_providerss', 'model_providers'],
    ['mcp_server', 'mcp_servers'],
    ['aps', 'apps'],
    ['ModelProvider', 'model_provider'],
  ])('%s resembles %s', async (key, suggested) => {
    const { path, warnings } = await warningsOf(`# x\n${key}.x = 1\n`);
    expect(warnings).toEqual([
      {
        summary: `invalid config: ${path}:2:1: ${key} is not a known key`,
        details: `Did you mean ${suggested}?`,
        path,
        range: range(2, 1, key.length),
      },
    ]);
  });

  test.each([
    ['unix_socket', 'unix_sockets'],
    ['networkaccess', 'network_access'],
  ])('%s in sandbox_workspace_write resembles %s', async (key, suggested) => {
    const { path, warnings } = await warningsOf(`[sandbox_workspace_write]\n${key} = true\n`);
    const summary = `invalid config: ${path}:2:1: sandbox_workspace_write.${key} is not a known key`;
    expect(warnings).toEqual([
      { summary, details: `Did you mean ${suggested}?`, path, range: range(2, 1, key.length) },
    ]);
  });

  test.each(['notice', 'desktop'])('%s is the state of clients, and not reported', async (key) => {
    expect((await warningsOf(`${key}.x = 1\n`)).warnings).toEqual([]);
  });

  test.each(['ap', 'x', 'my_own_settings', 'web', 'constructor', '__proto__'])(
    '%s resembles none, and is reported too',
    async (key) => {
      const { path, warnings } = await warningsOf(`${key}.x = 1\n`);
      expect(warnings).toEqual([
        {
          summary: `invalid config: ${path}:1:1: ${key} is not a known key`,
          details: 'It has no effect. docs/configuration.md lists the keys that heddle knows.',
          path,
          range: range(1, 1, key.length),
        },
      ]);
    },
  );

  test('of many, the first ten are told one by one', async () => {
    const { path, warnings } = await warningsOf(
      Array.from({ length: 13 }, (_, index) => `own_key_${index} = 1\n`).join(''),
    );
    expect(warnings).toHaveLength(11);
    expect(warnings.at(-1)).toEqual({
      summary: 'These keys are not known either: own_key_10, own_key_11, own_key_12',
      details: 'They have no effect. docs/configuration.md lists the keys that heddle knows.',
      path,
      range: null,
    });
  });

  test('one given on the command line is reported too', async () => {
    const { warnings } = await warningsOf('', { overrides: ['modle=x'] });
    expect(warnings).toEqual([
      {
        summary: 'invalid config: modle (given on the command line) is not a known key',
        details: 'Did you mean model?',
        path: null,
        range: null,
      },
    ]);
  });
});

test('keys that a trusted project cannot set are reported', async () => {
  const folder = tempFolder({
    '.codex/config.toml': 'model = "m"\n[mcp_servers.x]\ncommand = "x"\n',
  });
  const { warnings } = await warningsOf(
    `[projects.${JSON.stringify(folder)}]\ntrust_level = "trusted"\n`,
    { cwd: folder },
  );
  const path = join(folder, '.codex', 'config.toml');
  expect(warnings).toEqual([
    {
      summary: `invalid config: ${path}:2:2: mcp_servers is ignored: a project's config.toml cannot set it`,
      details: 'Set it in the config.toml in your heddle home instead.',
      path,
      range: range(2, 2, 11),
    },
  ]);
});

test.each([
  ['[tools]\nweb_serch = true\n', 'tools.web_serch', 2, 'Did you mean web_search?'],
  [
    '[skills]\ninclude = false\n',
    'skills.include',
    2,
    'It has no effect. The keys of skills are config.',
  ],
  [
    '[[skills.config]]\nname = "a"\nenabled = false\n[[skills.config]]\nname = "b"\nenabled = false\nreason = "x"\n',
    'skills.config.1.reason',
    1,
    'It has no effect. The keys of skills.config.1 are enabled, name, path.',
  ],
])('unknown keys below the top are reported: %j', async (text, key, line, details) => {
  const { warnings } = await warningsOf(text);
  expect(warnings).toMatchObject([{ details, range: { start: { line } } }]);
  expect(warnings[0]?.summary).toContain(`${key} is not a known key`);
});

test('what only the top of the file can set is reported in a profile', async () => {
  const text =
    'profile = "p"\n[profiles.p]\nprofile = "q"\nprofiles.q.model = "m"\nprojects."/a".trust_level = "trusted"\n';
  const { warnings } = await warningsOf(text);
  const where =
    'in the profile p has no effect: set it in the config.toml in your heddle home, outside of profiles';
  expect(warnings.map(({ summary, range: place }) => [summary, place?.start.line])).toEqual([
    [`profile ${where}`, 3],
    [`profiles ${where}`, 4],
    [`projects ${where}`, 5],
  ]);
});

test.each([
  ['web_search = true\n', 'Models do not search the web'],
  ['[tools]\nweb_search = 5\n', 'Models do not search the web'],
  ['[features]\nweb_search_request = "x"\n', 'Models do not search the web'],
  ['[agents]\nmax_threads = 0\nmax_depth = -1\n', 'Models do not get the tools for sub-agents'],
  ['agents = 5\n', 'Models do not get the tools for sub-agents'],
  ['review_model = 5\n', 'The server refuses reviews'],
  ['[features]\nhooks = "off"\n', 'Hooks run'],
  ['[mcp_safety_check]\ncomand = "x"\n', 'Every call of an MCP tool needs approval'],
  ['mcp_oauth_callback_port = 0\n', 'It has no effect'],
  ['[mcp_servers.a]\ncommand = 5\n', 'Threads start without it'],
  ['tools = 5\n', 'The server refuses threads that need it'],
])('the warning about %j says what is lost', async (text, loss) => {
  const details = new Set((await warningsOf(text)).warnings.map((warning) => warning.details));
  expect([...details]).toEqual([`${loss} until you correct it. Everything else works.`]);
});

describe('a login that is stored elsewhere', () => {
  const ADVICE =
    'Log in once more with account/login/start and an API key, or set OPENAI_API_KEY in the environment.';

  test.each([
    ['keyring', {}],
    ['keyring', { OPENAI_API_KEY: 'k' }],
    ['ephemeral', {}],
    ['auto', {}],
  ])(
    'cli_auth_credentials_store = "%s" is reported, with the environment %j',
    async (store, env) => {
      const { path, warnings } = await warningsOf(
        `# x\ncli_auth_credentials_store = "${store}"\n`,
        { env },
      );
      expect(warnings.filter(({ summary }) => summary.includes('cli_auth'))).toEqual([
        {
          summary: expect.stringContaining(
            `:2:1: cli_auth_credentials_store: "${store}" has no effect: heddle keeps the API key in auth.json`,
          ),
          details: ADVICE,
          path,
          range: range(2, 1, 26),
        },
      ]);
    },
  );

  test('"file", and "auto" if there is a key, are not', async () => {
    expect((await warningsOf('cli_auth_credentials_store = "file"\n')).warnings).toEqual([]);
    expect((await warningsOf('cli_auth_credentials_store = "auto"\n')).warnings).toEqual([]);
    const { warnings } = await warningsOf('cli_auth_credentials_store = "wallet"\n');
    expect(warnings).toMatchObject([
      { details: 'It has no effect until you correct it. Everything else works.' },
    ]);
  });
});

test('of many keys that have no effect, the first ten have warnings of their own', async () => {
  const keys = Array.from({ length: 500 }, (_, index) => `k${index} = 1`).join('\n');
  const { warnings: ofServer } = await warningsOf(`[mcp_servers.a]\ncommand = "x"\n${keys}\n`);
  expect(ofServer).toHaveLength(11);
  expect(ofServer[10]?.summary).toMatch(
    /heddle does not know these keys either.*mcp_servers\.a\.k/,
  );
  const project = tempFolder({
    '.codex/config.toml': `${keys}\n`,
    '.codex/agents/r.toml': `${keys}\n`,
    home: '',
  });
  const { warnings } = await warningsOf(`[projects."${project}"]\ntrust_level = "trusted"\n`, {
    cwd: project,
  });
  for (const file of ['config.toml', 'agents/r.toml']) {
    const told = warnings.filter(({ path }) => path === join(project, '.codex', file));
    expect(told).toHaveLength(11);
    expect(told[10]?.summary).toMatch(/these keys are ignored, too: k10, k11, .*… \(490 keys\)$/);
  }
});

describe('the embedded model', () => {
  test('is reported if no model is chosen', async () => {
    expect((await warningsOf('', { env: {} })).warnings).toEqual([EMBEDDED]);
  });

  test.each([
    ['if it is chosen', 'model_provider = "scripted"\n', {}],
    ['if there is a key', '', { OPENAI_API_KEY: 'k' }],
  ])('is not reported %s', async (_, text, env) => {
    expect((await warningsOf(text, { env })).warnings).toEqual([]);
  });
});

describe('settings that heddle reads and does not use', () => {
  test('are named once, with those of features and providers', async () => {
    const { path, warnings } = await warningsOf(
      'check_for_update_on_startup = false\n[tui]\nnotifications = true\n[otel]\nenvironment = "x"\n[history]\n[features]\nmemories = true\n' +
        'plugins = false\nunified_exec = true\nsteer = false\n[model_providers.p]\nbase_url = "https://p.example"\ncredential_file = "x"\n',
    );
    expect(warnings).toEqual([
      {
        summary:
          'heddle does not use these settings: tui, otel, features.memories, features.steer, model_providers.p.credential_file',
        details: 'docs/coming-from-codex.md says what becomes of each setting.',
        path,
        range: null,
      },
    ]);
  });

  test('a ChatGPT login is named, unless a key is used in its place', async () => {
    const auth = (content: object) => ({
      'config.toml': 'model_provider = "ollama"\n',
      'auth.json': JSON.stringify(content),
    });
    const of = async (content: object) =>
      (await configWarnings(sourcesIn(tempFolder(auth(content))))).map(({ summary }) => summary);
    const tokens = { access_token: 'secret' };
    expect(await of({ tokens })).toEqual([
      'heddle does not use the ChatGPT login in auth.json: it supports API keys',
    ]);
    expect(await of({ tokens, OPENAI_API_KEY: 'k' })).toEqual([]);
    expect(await of({ OPENAI_API_KEY: 5 })).toEqual([
      expect.stringMatching(/auth\.json: OPENAI_API_KEY is not a string/),
    ]);
  });

  test('trust in projects counts only in the file', async () => {
    const { warnings } = await warningsOf('', { overrides: ['projects."/a".trust_level=trusted'] });
    expect(warnings.map(({ summary }) => summary)).toEqual([
      'projects (given on the command line) has no effect: set it in the config.toml in your heddle home',
    ]);
  });
});
