import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { checkSandbox } from '../../src/cli/doctor/check-sandbox.ts';
import { checkSearch } from '../../src/cli/doctor/check-search.ts';
import type { DoctorCheck } from '../../src/cli/doctor/doctor-check.ts';
import {
  type DoctorOptions,
  type DoctorStreams,
  runDoctor,
} from '../../src/cli/doctor/run-doctor.ts';
import { bubblewrapProblem } from '../../src/sandbox/linux/bubblewrap-problem.ts';
import { tempFolder } from '../config/temp-folder.ts';

const ROOT = dirname(dirname(import.meta.dirname));

async function doctor(
  files: Record<string, string>,
  options: Partial<DoctorOptions> = {},
  stderr: DoctorStreams['stderr'] = { write() {} },
) {
  const home = tempFolder(files);
  let text = '';
  const isWell = await runDoctor(
    {
      home,
      homeSource: 'HEDDLE_HOME',
      cwd: home,
      env: { PATH: '/usr/bin:/bin' },
      sendSignal: (pid, signal) => process.kill(pid, signal),
      overrides: [],
      systemDir: null,
      json: true,
      version: '0.0.1',
      platform: process.platform,
      nodeVersions: process.versions,
      installation: { manifest: join(ROOT, 'package.json'), executable: process.execPath },
      ...options,
    },
    {
      print(part) {
        text += part;
      },
      stderr,
    },
  );
  const json =
    options.json === false ? null : (JSON.parse(text) as { ok: boolean; checks: DoctorCheck[] });
  const check = (name: DoctorCheck['name']) => json?.checks.find((one) => one.name === name);
  return { home, isWell, text, json, check };
}

/** A provider that answers every request with this status. */
async function answering(status: number): Promise<string> {
  const server = createServer((_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"data": []}'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const provider = (url: string) => ({
  'config.toml': `model = "m"\nmodel_provider = "p"\n[model_providers.p]\nbase_url = "${url}"\nenv_key = "P_KEY"\n`,
});

describe('the shell', () => {
  const shell = (files: Record<string, string>, config = '') => {
    const user = tempFolder(files);
    return doctor(
      { 'config.toml': config },
      { env: { PATH: '/usr/bin:/bin', HOME: user, SHELL: '/bin/bash' } },
    );
  };

  test('is started like that of a server: its files, its time and its variables are told', async () => {
    const { check } = await shell({ '.bashrc': 'export ONE=1 TWO=2\n', '.profile': '' });
    const files = [
      ...(existsSync('/etc/profile') ? ['/etc/profile'] : []),
      expect.stringMatching(/\.profile$/),
    ];
    expect(check('shell')).toMatchObject({
      summary: expect.stringMatching(/^\/bin\/bash, \d+ variables in \d+ ms, from .*\.bashrc$/),
      facts: {
        files: expect.arrayContaining([...files, expect.stringMatching(/\.bashrc$/)]),
        variables: expect.arrayContaining(['ONE', 'TWO']),
      },
      problems: [],
    });
  });

  test('has a problem if a start file ends it, and none if it is not read', async () => {
    const { check } = await shell({ '.bashrc': 'exit 3\n' });
    expect(check('shell')?.problems).toMatchObject([
      { severity: 'warning', message: expect.stringMatching(/exit code 3/) },
    ]);
    const off = await shell({ '.bashrc': 'exit 3\n' }, '[features]\nshell_snapshot = false\n');
    expect(off.check('shell')).toMatchObject({
      summary: '/bin/bash, not read: features.shell_snapshot is false',
      problems: [],
    });
  });
});

describe('heddle doctor', () => {
  test('says what a server finds, with one thing to do for each problem', async () => {
    const { home, isWell, text } = await doctor(
      { 'config.toml': 'model = "gpt-5.5"\nsandbox_mode = "readonly"\n' },
      { json: false },
    );
    expect(isWell).toBe(false);
    expect(text).toContain(
      `Home: ${home} (HEDDLE_HOME)\nConfiguration: ${join(home, 'config.toml')}\n`,
    );
    expect(text).toContain(
      `  error: invalid config: ${join(home, 'config.toml')}:2:1: sandbox_mode: expected one of`,
    );
    expect(text).toContain('    To do: Correct the value in this line.\n');
    expect(text).toContain('  warning: gpt-5.5 does not answer in this thread: ');
    expect(text.match(/To do:/g)).toHaveLength(2);
    expect(text).toMatch(/\n2 problems were found\.\n$/);
  });

  test('gives the layers, and the lines of problems, as JSON', async () => {
    const { home, check, json } = await doctor(
      {
        'config.toml': 'profile = "p"\nmodel_provider = "scripted"\n',
        'p.config.toml': '\nweb_search = 5\n',
      },
      { overrides: ['model_verbosity=low'] },
    );
    expect(json?.ok).toBe(false);
    expect(check('configuration')).toMatchObject({
      facts: {
        layers: [
          { type: 'user', source: join(home, 'config.toml'), profile: null, inForce: true },
          { type: 'user', source: join(home, 'p.config.toml'), profile: 'p' },
          { type: 'sessionFlags', source: 'given on the command line' },
        ],
      },
      problems: [
        {
          severity: 'error',
          file: join(home, 'p.config.toml'),
          line: 2,
          column: 1,
          fix: 'Correct the value in this line.',
        },
      ],
    });
  });

  test('of a new home has no error, and changes nothing', async () => {
    const { home, isWell, check } = await doctor({});
    expect(isWell).toBe(true);
    expect(check('provider')).toMatchObject({
      facts: { provider: 'embedded', model: 'embedded', url: null, reachable: null },
      problems: [
        {
          severity: 'warning',
          message: 'No model provider is configured: the embedded model answers, offline.',
        },
      ],
    });
    expect(readdirSync(home)).toEqual([]);
  });

  test.each([
    [200, true],
    [404, true],
    [401, false],
    [503, false],
  ])('a provider that answers with %i', async (status, isReachable) => {
    const url = await answering(status);
    const { check, isWell, text } = await doctor(provider(url), {
      env: { PATH: '/usr/bin:/bin', P_KEY: 'sk-secret-0123456789' },
    });
    expect(check('provider')?.facts).toMatchObject({
      provider: 'p',
      url,
      key: 'P_KEY',
      reachable: isReachable,
    });
    expect(isWell).toBe(isReachable);
    expect(text).not.toContain('sk-secret');
  });

  test('a provider that does not answer, and one without its key', async () => {
    const silent = await doctor(provider('http://127.0.0.1:9/v1'), { env: { P_KEY: 'k' } });
    expect(silent.check('provider')?.problems[0]?.message).toContain('cannot be reached');
    const keyless = await doctor(provider('http://127.0.0.1:9/v1'));
    expect([silent, keyless].map(({ check }) => check('provider')?.facts)).toMatchObject([
      { reachable: false },
      { reachable: null },
    ]);
    expect(keyless.check('provider')?.problems[0]?.message).toContain(
      'set the environment variable P_KEY',
    );
    const { 'config.toml': text } = provider('http://127.0.0.1:9/v1');
    const headed = await doctor({
      'config.toml': `${text}http_headers = { Authorization = "Bearer x" }\n`,
    });
    expect(headed.check('provider')?.facts).toMatchObject({ key: 'config.toml' });
  });

  test.each([
    {
      ...{ id: 'ollama', name: 'Ollama', path: '/api/ps', advice: 'OLLAMA_CONTEXT_LENGTH=16384' },
      loaded: { models: [{ name: 'm:latest', context_length: 4_096 }] },
    },
    {
      ...{
        id: 'lmstudio',
        name: 'LM Studio',
        path: '/api/v0/models',
        advice: 'larger context length',
      },
      loaded: { data: [{ id: 'm', loaded_context_length: 4_096 }] },
    },
  ])('a short context window of $name', async ({ id, name, path, advice, loaded }) => {
    const answers: Record<string, object> = {
      '/v1/models': { data: [{ id: 'm' }] },
      [path]: loaded,
    };
    const server = createServer(({ url = '' }, response) =>
      response.end(JSON.stringify(answers[url] ?? {})),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const overrides = [
      `model_provider=${id}`,
      'model=m',
      `model_providers.${id}.base_url="${url}"`,
    ];
    const { check } = await doctor({}, { overrides });
    const message = `${name} runs m with a context window of 4096 tokens, which is too short for most work.`;
    expect(check('provider')?.problems).toEqual([
      { severity: 'warning', message, fix: expect.stringContaining(advice) },
    ]);
  });

  test('a model that the chosen provider does not have: one thing to do', async () => {
    const { check } = await doctor({}, { overrides: ['model_provider=scripted', 'model=x'] });
    expect(check('provider')?.problems).toEqual([
      {
        severity: 'warning',
        message:
          'x does not answer in this thread: the provider embedded has no other model. The embedded model answers in its place, offline.',
        fix: 'Choose another model_provider in config.toml, or remove model.',
      },
    ]);
  });

  test('a part of the configuration that does nothing is an error, with the thing to do', async () => {
    const home = tempFolder({
      'config.toml':
        'model_provider = "scripted"\nmodle = 1\n[agents.x]\nmodel = 5\n[hooks]\nStop = [{ hooks = [{ type = "x" }] }]\n',
      'hooks.json': '{',
      'auth.json': '[]',
    });
    const { isWell, check } = await doctor({}, { home, cwd: home });
    expect(isWell).toBe(false);
    const of = (file: string) =>
      check('configuration')
        ?.problems.filter((problem) => problem.file === join(home, file))
        .map(({ severity, fix }) => [severity, fix]);
    expect(of('config.toml')).toEqual([
      ['warning', 'Did you mean model?'],
      ['error', 'Correct the value in this line.'],
      ['error', 'Follow the message, or correct the file.'],
    ]);
    expect(of('hooks.json')).toEqual([['error', 'Follow the message, or correct the file.']]);
    expect(of('auth.json')).toEqual([['error', 'Correct the file.']]);
  });

  test('a file that cannot be read leaves the other checks', async () => {
    const { check } = await doctor({ 'config.toml': 'model = [' });
    expect(check('configuration')).toMatchObject({
      summary: 'cannot be read',
      problems: [{ severity: 'error', line: 1 }],
    });
    expect(check('provider')?.summary).toBe('unknown, because the configuration cannot be read');
    expect(check('git')?.problems).toEqual([]);
  });

  test('a key that others can read, programs that are missing, certificates that are not there', async () => {
    const files = {
      'auth.json': '{"OPENAI_API_KEY": "sk-stored-0123456789"}',
      'config.toml': 'model_provider = "scripted"\n[mcp_servers.a]\ncommand = "no-such-program"\n',
    };
    const env = {
      PATH: '/nowhere',
      SSL_CERT_FILE: '/no/such.pem',
      HTTPS_PROXY: 'http://user:secret@proxy.example:1',
    };
    const home = tempFolder(files);
    chmodSync(join(home, 'auth.json'), 0o644);
    const { check, text } = await doctor({}, { home, env });
    expect(check('home')?.problems).toMatchObject([
      { severity: 'warning', fix: `Run: chmod 600 ${join(home, 'auth.json')}` },
    ]);
    expect(check('git')?.problems).toMatchObject([{ fix: 'Install git.' }]);
    expect(check('mcpServers')).toMatchObject({
      facts: { servers: ['a'] },
      problems: [{ fix: 'Install it, or correct mcp_servers.a.command in config.toml.' }],
    });
    expect(check('proxies')).toMatchObject({
      facts: { HTTPS_PROXY: 'http://proxy.example:1' },
      problems: [{ fix: 'Correct SSL_CERT_FILE, or remove it.' }],
    });
    expect(text).not.toContain('secret');
    expect(text).not.toContain('sk-stored');
  });

  test('a hook whose program is missing', async () => {
    const hooks = {
      PreToolUse: [{ hooks: [{ type: 'command', command: '/no/such/check --strict' }] }],
    };
    const home = tempFolder({
      'hooks.json': JSON.stringify({ hooks }),
      'config.toml': 'model_provider = "scripted"\n',
    });
    const { check } = await doctor({}, { home });
    expect(check('configuration')?.problems).toMatchObject([
      {
        severity: 'warning',
        file: join(home, 'hooks.json'),
        message: expect.stringContaining('the program /no/such/check is missing'),
      },
    ]);
  });

  test('a system without a sandbox', async () => {
    const { check } = await doctor({}, { platform: 'win32' });
    expect(check('sandbox')).toMatchObject({
      facts: { sandbox: null },
      problems: [
        {
          severity: 'error',
          fix: 'heddle has a sandbox on Linux, with bubblewrap, and on macOS. See docs/security.md.',
        },
      ],
    });
  });

  test.each([
    ['missing', /bubblewrap is missing\.$/, /^(Run:|Install) .*bubblewrap/],
    [
      'bwrap: Unknown option --x',
      /Version 0\.8 or later is needed\.$/,
      /^(Run:|Install) .*bubblewrap/,
    ],
    [
      'bwrap: No permissions to create new namespace',
      /create a user namespace \(.*\)\.$/,
      /^(Run: sudo sysctl|Start the container) /,
    ],
    ['bwrap: it is Tuesday', /does not start \(bwrap: it is Tuesday\)\.$/, /docs\/security\.md/],
  ])(
    'the thing to do about a sandbox that does not work is what its problem says: %s',
    async (said, message, fix) => {
      const { problems } = await checkSandbox(
        { available: async () => ({ problem: bubblewrapProblem(said) }) },
        null,
      );
      expect(problems).toMatchObject([
        {
          message: expect.stringMatching(message) as string,
          fix: expect.stringMatching(fix) as string,
        },
      ]);
      expect(problems[0]?.fix).not.toContain('danger-full-access');
    },
  );

  test('a file that is too large is to be corrected, not a line of it', async () => {
    const { home, check } = await doctor({ 'config.toml': `# ${'x'.repeat(300_000)}\n` });
    expect(check('configuration')?.problems).toMatchObject([
      { file: join(home, 'config.toml'), fix: 'Correct the file.' },
    ]);
    const given = await doctor({}, { overrides: ['sandbox_mode=5'] });
    expect(given.check('configuration')?.problems).toMatchObject([
      { severity: 'error', fix: 'Correct it where it is given.' },
    ]);
  });

  test('MCP servers are looked for in their own folders and with their own variables', async () => {
    const folder = tempFolder({ 'bin/run': '#!/bin/sh\n', run: '#!/bin/sh\n' });
    for (const name of ['bin/run', 'run']) chmodSync(join(folder, name), 0o755);
    const { isWell, check } = await doctor({
      'config.toml': `model_provider = "scripted"
[mcp_servers.a]
command = "./run"
cwd = "${folder}"
[mcp_servers.b]
command = "run"
env = { PATH = "${folder}/bin" }
[mcp_servers.c]
url = "https://mcp.example.com/c?key=secret"
bearer_token_env_var = "C_TOKEN"
[mcp_servers.d]
command = "no-such-program"
enabled = false
[mcp_servers.e]
command = "sh"
cwd = "${folder}/missing"
[mcp_servers.f]
command = 5
`,
    });
    expect(isWell).toBe(true);
    expect(check('mcpServers')).toMatchObject({
      summary: 'a, b, c at mcp.example.com, d (switched off), e, f (not usable)',
      facts: { servers: ['a', 'b', 'c', 'd', 'e', 'f'], enabled: ['a', 'b', 'c', 'e'] },
      problems: [
        {
          severity: 'warning',
          fix: 'Set C_TOKEN, or correct mcp_servers.c.bearer_token_env_var in config.toml.',
        },
        {
          severity: 'warning',
          fix: 'Make the folder, or correct mcp_servers.e.cwd in config.toml.',
        },
      ],
    });
  });

  test('an MCP server that is required is an error if it cannot start', async () => {
    const { isWell, check } = await doctor({
      'config.toml':
        'model_provider = "scripted"\n[mcp_servers.a]\ncommand = "no-such-program"\nrequired = true\n',
    });
    expect([isWell, check('mcpServers')?.problems[0]?.severity]).toEqual([false, 'error']);
    const table = await doctor({
      'config.toml': 'model_provider = "scripted"\n[mcp_servers.a]\ncommand = 5\nrequired = true\n',
    });
    expect([table.isWell, table.check('configuration')?.problems[0]?.severity]).toEqual([
      false,
      'error',
    ]);
  });
});

test('heddle doctor says whether ripgrep is installed', async () => {
  const { check } = await doctor({});
  expect(check('search')).toMatchObject({
    facts: { path: expect.stringMatching(/\/bin\/rg$/) },
    problems: [],
  });
  expect(checkSearch(null)).toMatchObject({
    summary: 'not found',
    problems: [{ severity: 'warning' }],
  });
});

test('the checks that take long are shown on stderr until they have ended', async () => {
  let seen = () => {};
  const shown = new Promise<void>((resolve) => {
    seen = resolve;
  });
  // The provider answers when its check has been shown.
  const server = createServer(
    (_req, res) => void shown.then(() => res.end('{"data":[{"id":"large"}]}')),
  );
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const config = `model_provider = "p"\nmodel = "large"\n[model_providers.p]\nbase_url = "http://127.0.0.1:${port}/v1"\n`;
  let written = '';
  const write = (text: string) => {
    written += text;
    if (written.includes('Model provider')) seen();
  };
  await doctor({ 'config.toml': config }, { json: false }, { write, isTTY: true, columns: 60 });
  expect(written.replaceAll('\r\x1b[K', '|')).toMatch(/^(?:\|checking [^|\n]*)+\|$/);
  expect(written).toContain('Model provider');
});
