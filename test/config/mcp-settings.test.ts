import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { mcpSettings } from '../../src/config/mcp/mcp-settings.ts';
import { configWarnings } from '../../src/config/problems/config-warnings.ts';
import { TrustRecordFile } from '../../src/config/trust/trust-record-file.ts';
import { tempFolder } from './temp-folder.ts';

const NO_FILE =
  'no file is at this path. If it has arguments, write only the program here, and the rest as a list in args';
const ENV = {
  PATH: '/bin',
  HOME: '/h',
  SECRET_KEY: 'hidden',
  TOKEN: 'token-of-the-user',
  HEADER: 'from-env',
};

async function settingsFrom(text: string) {
  const home = tempFolder({ 'config.toml': text });
  const sources = {
    home,
    cwd: home,
    env: ENV,
    overrides: [],
    trustedFiles: new TrustRecordFile({ home, writes: false }),
    modelGiven: true,
  };
  return {
    home,
    settings: mcpSettings(await loadConfig(sources)),
    warnings: await configWarnings(sources),
  };
}

test('a server on stdio, with defaults', async () => {
  const { settings } = await settingsFrom('[mcp_servers.ex]\ncommand = "prog"\n');
  expect(settings).toEqual({
    servers: [
      {
        name: 'ex',
        transport: {
          type: 'stdio',
          command: 'prog',
          args: [],
          env: { PATH: '/bin', HOME: '/h' },
          cwd: null,
        },
        enabled: true,
        required: false,
        startupTimeoutMs: 10_000,
        toolTimeoutMs: 60_000,
        enabledTools: null,
        disabledTools: [],
        approvalMode: 'auto',
        callsInParallel: false,
        toolApprovals: {},
        approvedTools: {},
        secrets: [],
      },
    ],
    problems: [],
    check: null,
    callback: { port: null, url: null },
    further: [],
    unknown: [],
  });
});

test('every key of a server on stdio', async () => {
  const { settings } = await settingsFrom(`[mcp_servers.ex]
command = "prog"
args = ["a"]
env = { API_KEY = "key-key-key", MODE = "x" }
env_vars = ["SECRET_KEY", { name = "TOKEN" }]
cwd = "/work"
enabled = false
required = true
enabled_tools = ["a"]
disabled_tools = ["b"]
startup_timeout_sec = 1.5
tool_timeout_sec = 2
default_tools_approval_mode = "prompt"
supports_parallel_tool_calls = true
[mcp_servers.ex.tools.a]
approval_mode = "approve"
approved_definition = "abc"
`);
  expect(settings.servers[0]).toEqual({
    name: 'ex',
    transport: {
      type: 'stdio',
      command: 'prog',
      args: ['a'],
      env: {
        PATH: '/bin',
        HOME: '/h',
        SECRET_KEY: 'hidden',
        TOKEN: 'token-of-the-user',
        API_KEY: 'key-key-key',
        MODE: 'x',
      },
      cwd: '/work',
    },
    enabled: false,
    required: true,
    startupTimeoutMs: 1_500,
    toolTimeoutMs: 2_000,
    enabledTools: ['a'],
    disabledTools: ['b'],
    approvalMode: 'prompt',
    callsInParallel: true,
    toolApprovals: { a: 'approve' },
    approvedTools: { a: 'abc' },
    secrets: ['token-of-the-user', 'key-key-key'],
  });
});

test('every key of a server that is reached by HTTP', async () => {
  const { settings } = await settingsFrom(`[mcp_servers.ex]
url = "https://example.com/mcp"
bearer_token_env_var = "TOKEN"
http_headers = { X-One = "1" }
env_http_headers = { X-Two = "HEADER", X-Three = "UNSET" }
scopes = ["read"]
oauth_resource = "https://example.com"
startup_timeout_ms = 300
[mcp_servers.ex.oauth]
client_id = "me"
`);
  expect(settings.servers[0]).toMatchObject({
    startupTimeoutMs: 300,
    transport: {
      type: 'http',
      url: 'https://example.com/mcp',
      headers: { 'X-One': '1', 'X-Two': 'from-env' },
      bearerToken: 'token-of-the-user',
      bearerTokenVariable: 'TOKEN',
      oauth: {
        scopes: ['read'],
        resource: 'https://example.com',
        clientId: 'me',
        clientSecret: null,
        clientMetadataUrl: null,
      },
    },
    secrets: expect.arrayContaining(['token-of-the-user', 'from-env']) as string[],
  });
});

test.each([
  [
    'command = "x"\nurl = "https://e.com"',
    'mcp_servers.ex.url: a server has either a command or a url',
  ],
  [
    'args = ["x"]',
    'mcp_servers.ex: command or url is missing: expected the program to start, or the http or https URL of the server',
  ],
  ['command = ""', 'mcp_servers.ex.command: expected a non-empty string, found ""'],
  ['command = "x"\nargs = [1]', 'mcp_servers.ex.args: expected a list of strings, found a list'],
  [
    'command = "x"\nscopes = []',
    'mcp_servers.ex.scopes: only a server with a url can have it, and this one has a command',
  ],
  [
    'url = "https://e.com"\nargs = []',
    'mcp_servers.ex.args: only a server with a command can have it, and this one has a url',
  ],
  ['url = "ftp://e.com"', 'mcp_servers.ex.url: expected an http or https URL, found a string'],
  [
    'url = "https://e.com"\nbearer_token_env_var = "sk-1 2"',
    'mcp_servers.ex.bearer_token_env_var: expected the name of an environment variable, not the token itself, found a string',
  ],
  [
    'url = "https://e.com"\nhttp_headers = { "a b" = "1" }',
    'mcp_servers.ex.http_headers: expected a table of header names and single-line string values, found a table',
  ],
  [
    'command = "x"\nstartup_timeout_sec = 0',
    'mcp_servers.ex.startup_timeout_sec: expected a number of seconds, more than 0, found 0',
  ],
  ['command = "x"\nenabled = 1', 'mcp_servers.ex.enabled: expected true or false, found 1'],
  [
    'command = "x"\ndefault_tools_approval_mode = "x"',
    'mcp_servers.ex.default_tools_approval_mode: expected one of "auto", "prompt", "writes", "approve", found "x"',
  ],
  [
    'command = "x"\ncwd = "servers/x"',
    'mcp_servers.ex.cwd: expected an absolute path, found "servers/x"',
  ],
])('a mistake is a problem of this server only, with its place: %s', async (table, problem) => {
  const { home, settings, warnings } = await settingsFrom(
    `[mcp_servers.ex]\n${table}\n[mcp_servers.good]\ncommand = "x"\n`,
  );
  expect([
    settings.servers.map(({ name }) => name),
    settings.problems.map(({ name }) => name),
  ]).toEqual([['good'], ['ex']]);
  expect(settings.problems[0]?.error.message.replace(/^invalid config: .*?:\d+:\d+: /, '')).toBe(
    problem,
  );
  expect(settings.problems[0]?.error.message).toContain(`${home}/config.toml:`);
  expect(warnings).toMatchObject([
    { summary: settings.problems[0]?.error.message, path: `${home}/config.toml` },
  ]);
});

test('of more than 256 servers, the first ones by name are used, and the others are told', async () => {
  const tables = Array.from(
    { length: 300 },
    (_, index) => `[mcp_servers.s${index + 100}]\ncommand = "prog"\nenabled = false\n`,
  );
  const { settings } = await settingsFrom(tables.join(''));
  expect(settings.servers.map(({ name }) => name)).toEqual(
    Array.from({ length: 256 }, (_, index) => `s${index + 100}`),
  );
  expect(settings.further).toMatchObject([
    { message: expect.stringContaining('there are 300 MCP servers, more than 256') },
  ]);
});

test('a disabled server has no problems; a table that is none is one', async () => {
  expect(
    (await settingsFrom('[mcp_servers.ex]\nenabled = false\nargs = 1\n')).settings,
  ).toMatchObject({
    servers: [],
    problems: [],
  });
  expect((await settingsFrom('mcp_servers = 1\n')).settings).toMatchObject({
    problems: [],
    further: [
      { message: expect.stringMatching(/mcp_servers: expected a table, found 1/) as string },
    ],
  });
});

test.each([
  [
    'command = "x"\nstartup_timeout_secs = 1',
    'startup_timeout_secs',
    'Did you mean startup_timeout_sec?',
  ],
  [
    'command = "x"\nenvironment_id = "local"',
    'environment_id',
    'The keys here are enabled, required',
  ],
  [
    'command = "x"\n[mcp_servers.ex.tools.a]\noutput_token_limit = 5',
    'tools.a.output_token_limit',
    'The keys here are approval_mode, approved_definition.',
  ],
  [
    'url = "https://e.com"\n[mcp_servers.ex.oauth]\nclient_idd = "x"',
    'oauth.client_idd',
    'Did you mean client_id?',
  ],
  [
    'command = "x"\nenv_vars = [{ name = "A", source = "remote" }]',
    'env_vars',
    'these keys have no effect: source. The variables are',
  ],
])(
  'a key that heddle does not know is reported, and the server runs: %s',
  async (table, key, advice) => {
    const { home, settings, warnings } = await settingsFrom(`[mcp_servers.ex]\n${table}\n`);
    expect([settings.servers.map(({ name }) => name), settings.problems]).toEqual([['ex'], []]);
    expect(warnings).toMatchObject([
      {
        details: 'The server runs without it. docs/mcp.md lists the keys that heddle knows.',
        path: `${home}/config.toml`,
      },
    ]);
    expect(warnings[0]?.summary).toContain(`mcp_servers.ex.${key}: `);
    expect(warnings[0]?.summary).toContain(advice);
  },
);

test('a variable of heddle itself is nothing to report', async () => {
  const { warnings } = await settingsFrom(
    '[mcp_servers.ex]\ncommand = "x"\nenv_vars = ["B", { name = "A", source = "local" }]\n',
  );
  expect(warnings).toEqual([]);
});

test('errors and logs do not show the secrets of variables and arguments', async () => {
  const args =
    '["--token", "first-secret", "--api-key=second-secret", "API_KEY=third-secret", "https://u:fourth-secret@e.com", "plain-value"]';
  const { settings } = await settingsFrom(
    `[mcp_servers.ex]\ncommand = "x"\nargs = ${args}\nenv_vars = ["TOKEN"]\n`,
  );
  expect(settings.servers[0]?.secrets.toSorted()).toEqual(
    [
      'first-secret',
      'second-secret',
      'third-secret',
      'https://u:fourth-secret@e.com',
      'token-of-the-user',
    ].toSorted(),
  );
});

test('a program that is named by a relative path needs a folder, so that no project can have it', async () => {
  const { settings } = await settingsFrom(
    '[mcp_servers.a]\ncommand = "./x"\n[mcp_servers.b]\ncommand = "./x"\ncwd = "/work"\n',
  );
  expect(settings.servers.map(({ name }) => name)).toEqual(['b']);
  expect(settings.problems[0]?.error.problem).toBe(
    'mcp_servers.a.command: a relative path needs cwd. Otherwise each project could have a program at it',
  );
});

test.each([
  [
    'npx -y @a/b',
    'expected only the program: write command = "npx", and the rest as a list in args',
  ],
  [
    'node /x/y.js',
    'expected only the program: write command = "node", and the rest as a list in args',
  ],
  [
    'FOLDER/my server --token t0ken',
    'expected only the program: write command = "FOLDER/my server", and the rest as a list in args',
  ],
  [
    'my server --token t0ken',
    'expected only the program: write command = "my server", and the rest as a list in args',
  ],
  ['FOLDER/my servers', NO_FILE],
  ['FOLDER/no such folder/server --token t0ken', NO_FILE],
  ['FOLDER/server --token t0ken', NO_FILE],
  [
    'TOKEN=t0ken npx',
    'expected only the program: write the variables as a table in env, and the arguments as a list in args',
  ],
  ['~/server', 'expected a program or its whole path: `~` and variables have no meaning here'],
  ['$HOME/server', 'expected a program or its whole path: `~` and variables have no meaning here'],
])('the command %s is refused with the way to write it', async (command, problem) => {
  const folder = tempFolder({ 'my server': '' });
  const line = command.replace('FOLDER', folder);
  const { settings } = await settingsFrom(
    `[mcp_servers.a]\ncommand = ${JSON.stringify(line)}\nenv = { PATH = ${JSON.stringify(folder)} }\n`,
  );
  expect(settings.problems.map(({ error }) => error.problem.replace(folder, 'FOLDER'))).toEqual([
    `mcp_servers.a.command: ${problem}`,
  ]);
});

test.each(['my server', 'FOLDER/my server', 'FOLDER/missing'])(
  'the command %s may be one program',
  async (command) => {
    const folder = tempFolder({ 'my server': '' });
    const line = command.replace('FOLDER', folder);
    const { settings } = await settingsFrom(
      `[mcp_servers.a]\ncommand = ${JSON.stringify(line)}\nenv = { PATH = ${JSON.stringify(folder)} }\n`,
    );
    expect(settings.servers).toMatchObject([
      { name: 'a', transport: { type: 'stdio', command: line } },
    ]);
  },
);

test.each([
  [
    'command = "x"\nargs = ["a"]\nenv = { A = "1" }\ntimeout_sec = 2',
    {
      type: 'command',
      command: 'x',
      args: ['a'],
      env: { A: '1' },
      timeoutMs: 2_000,
      cwd: expect.any(String) as string,
      secrets: [],
    },
  ],
  [
    'url = "https://e.com/check"\nhttp_headers = { A = "1" }',
    {
      type: 'http',
      url: 'https://e.com/check',
      headers: { A: '1' },
      timeoutMs: 10_000,
      secrets: [],
    },
  ],
])('a safety check: %s', async (table, check) => {
  expect((await settingsFrom(`[mcp_safety_check]\n${table}\n`)).settings.check).toEqual(check);
});

test.each([
  ['timeout_sec = 2', 'mcp_safety_check: expected either command or url'],
  ['command = "x"\nurl = "https://e.com"', 'mcp_safety_check: expected either command or url'],
  [
    'command = "x"\ntimeout_sec = 1000',
    'mcp_safety_check.timeout_sec: expected a number of seconds, more than 0 and at most 300, found 1000',
  ],
  [
    'command = "x --y"',
    'mcp_safety_check.command: expected only the program: write command = "x", and the rest as a list in args',
  ],
  [
    'url = "https://e.com"\nargs = ["x"]',
    'mcp_safety_check.args: only a check with a command can have it',
  ],
  [
    'url = "https://e.com"\nenv = { A = "1" }',
    'mcp_safety_check.env: only a check with a command can have it',
  ],
  [
    'command = "x"\nhttp_headers = { A = "1" }',
    'mcp_safety_check.http_headers: only a check with a url can have it',
  ],
  [
    'url = "https://e.com"\nhttp_headers = { "a b" = "1" }',
    'mcp_safety_check.http_headers: expected a table of header names',
  ],
  [
    'comand = "x"',
    'mcp_safety_check.comand: not a key of mcp_safety_check. Its keys are command, args, env, url, http_headers, timeout_sec.',
  ],
])('a mistake in the safety check: %s', async (table, problem) => {
  const { settings, warnings } = await settingsFrom(`[mcp_safety_check]\n${table}\n`);
  expect(settings.check).toMatchObject({
    type: 'invalid',
    error: { message: expect.stringContaining(problem) as string },
  });
  expect(warnings).toHaveLength(1);
});
