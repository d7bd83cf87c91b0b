// @module-tag slow
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { OFFERED_PROVIDERS } from '../../src/cli/init/offered-providers.ts';
import { configWarnings } from '../../src/config/problems/config-warnings.ts';
import { policyReads } from '../../src/policy/policy-reads.ts';
import { load, sourcesIn } from '../config/load.ts';
import { writeFiles } from '../config/temp-folder.ts';
import { ollama } from '../model/fake-ollama.ts';
import { ProviderServer } from '../model/provider-server.ts';
import { converse, converseToEnd } from '../support/converse.ts';
import { TerminalRun } from './exec/terminal-run.ts';
import { EXECUTABLE, environment, type Place, place, startHeddle } from './support.ts';

/** Nothing listens there: a program on the machine that runs the tests is not asked. */
const NOWHERE = { OLLAMA_HOST: '127.0.0.1:9' };
const KEY = 'sk-c4nary0c4nary0c4nary0';

/**
 * Runs `heddle init` to its end, without a terminal. Not at once: providers of the test answer
 * meanwhile.
 */
async function init(where: Place, args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [EXECUTABLE, 'init', ...args], {
    cwd: where.work,
    env: { ...environment(where), ...NOWHERE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const run = { status: null as number | null, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (run.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (run.stderr += text));
  run.status = await new Promise((resolve) => child.once('close', resolve));
  return run;
}

const fileOf = ({ home }: Place) => join(home, 'config.toml');
const written = (where: Place) => readFileSync(fileOf(where), 'utf8');
const namesIn = ({ home }: Place) => readdirSync(home);
const summary = (where: Place, text: string) => `Wrote ${fileOf(where)}: ${text}.\n`;

async function withOllama(
  models: string[],
): Promise<{ env: { OLLAMA_HOST: string }; provider: ProviderServer }> {
  const provider = await ProviderServer.start(ollama({ models }));
  onTestFinished(async () => provider[Symbol.asyncDispose]());
  return { env: { OLLAMA_HOST: `127.0.0.1:${provider.port}` }, provider };
}

describe('with options', () => {
  test.each(OFFERED_PROVIDERS.map(({ id }) => id))(
    '%s: the file is private, has no key, and is loaded without a warning',
    async (id) => {
      const where = place();
      const model = id === 'embedded' ? [] : ['--model', 'large'];
      // A provider that could be reached would be asked with this key.
      const env = { LITELLM_API_KEY: KEY };
      const { status, stdout, stderr } = await init(
        where,
        ['--provider', id, ...model, '--sandbox', 'workspace-write'],
        env,
      );
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toContain(
        summary(
          where,
          `provider ${id}, model ${id === 'embedded' ? 'embedded' : 'large'}, sandbox workspace-write`,
        ),
      );
      expect(stdout).toContain('heddle exec "');
      expect(namesIn(where)).toEqual(['config.toml']);
      expect(statSync(fileOf(where)).mode & 0o777).toBe(0o600);
      expect(written(where)).not.toContain(KEY);
      expect(await configWarnings(sourcesIn(where.home), policyReads)).toEqual([]);
    },
  );

  test('the home is made, and a server works with the file', async () => {
    const { home, ...others } = place();
    const where = { ...others, home: join(home, 'deep', 'home') };
    const { status } = await init(where, ['--provider', 'embedded', '--sandbox', 'read-only']);
    expect([status, statSync(where.home).mode & 0o777]).toEqual([0, 0o700]);
    const heddle = await startHeddle(where);
    expect(await heddle.request('thread/start', {})).toMatchObject({
      model: 'embedded',
      sandbox: { type: 'readOnly' },
    });
    await heddle.finish();
  });

  test('--yes takes the first provider whose key is there, without asking it for a model', async () => {
    const where = place();
    const { status, stdout } = await init(where, ['--yes', '--model', 'large'], {
      LITELLM_API_KEY: KEY,
    });
    expect([status, stdout]).toEqual([
      0,
      expect.stringContaining(summary(where, 'provider litellm, model large, sandbox read-only')),
    ]);
    expect(stdout).not.toContain('is not set');
  });

  test('--yes takes a program on this machine that has models, and its first model', async () => {
    const [where, { env }] = [place(), await withOllama(['llama3.2:latest', 'qwen3:8b'])];
    const { status, stdout } = await init(where, ['--yes'], env);
    expect([status, stdout]).toEqual([
      0,
      expect.stringContaining(
        summary(where, 'provider ollama, model llama3.2:latest, sandbox read-only'),
      ),
    ]);
  });

  test('--yes without a key and such a program takes OpenAI, and says which variable gets the key', async () => {
    const where = place();
    const { status, stdout } = await init(where, ['--yes']);
    expect([status, stdout]).toEqual([
      0,
      expect.stringContaining(summary(where, 'provider openai, model gpt-5.5, sandbox read-only')),
    ]);
    expect(stdout).toContain('Note: OPENAI_API_KEY is not set.');
  });

  test('a URL: its variable is named, and the key is not written', async () => {
    const where = place();
    const args = [
      '--provider',
      'http://127.0.0.1:9/v1',
      '--env-key',
      'WORK_KEY',
      '--model',
      'large',
      '--yes',
    ];
    const { status, stdout } = await init(where, args, { WORK_KEY: KEY });
    expect(status).toBe(0);
    expect(`${stdout}${written(where)}`).not.toContain(KEY);
    expect((await load(written(where))).values).toMatchObject({
      model_provider: '127-0-0-1-9',
      model_providers: {
        '127-0-0-1-9': { base_url: 'http://127.0.0.1:9/v1', env_key: 'WORK_KEY', wire_api: 'chat' },
      },
    });
    expect(await configWarnings(sourcesIn(where.home), policyReads)).toEqual([]);
  });

  test('a model that the provider does not list is taken, with a note', async () => {
    const [where, { env }] = [place(), await withOllama(['llama3.2:latest'])];
    const { status, stdout } = await init(
      where,
      ['--provider', 'ollama', '--model', 'lama3.2', '--yes'],
      env,
    );
    expect([status, stdout]).toEqual([
      0,
      expect.stringContaining('does not list the model lama3.2'),
    ]);
  });

  test('a provider without a model is refused, with the reason', async () => {
    const where = place();
    const { status, stderr } = await init(where, ['--provider', 'ollama', '--yes']);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^heddle: init: no model of ollama is known: name one with --model\. .*refused/,
      ),
    ]);
    expect(namesIn(where)).toEqual([]);
  });

  test.each([
    [
      [],
      'init: nobody can answer, because there is no terminal: use --yes, or --provider, --model and --sandbox',
    ],
    [['--provider', 'openai', '--model', 'm'], 'init: nobody can answer'],
    [['--provider', 'olama', '--yes'], 'or the URL of another API: did you mean ollama?'],
    [['--provider', 'https://me:pass@a.example/v1', '--yes'], 'config.toml gets no key'],
    [['--provider', `https://a.example/v1?key=${KEY}`, '--yes'], 'config.toml gets no key'],
    [
      ['--provider', 'https://a.example/v1', '--env-key', KEY, '--yes'],
      'expected the name of an environment variable, not the key itself',
    ],
    [
      ['--provider', 'openai', '--env-key', 'A', '--yes'],
      '--env-key belongs to a --provider that is a URL',
    ],
    [['--env-key', 'A', '--yes'], '--env-key belongs to a --provider that is a URL'],
    [['--provider', 'openai', '--model', KEY, '--yes'], 'expected the name of a model, not a key'],
    [['--provider', 'openai', '--model', 'a\nb', '--yes'], 'expected the name of a model'],
    [['--provider', 'Scripted', '--model', 'm', '--yes'], 'the embedded model has no other name'],
    [
      ['--sandbox', 'readonly'],
      '--sandbox readonly: expected read-only, workspace-write or danger-full-access: did you mean read-only?',
    ],
    [
      ['--from-codex', '--model', 'm'],
      '--from-codex takes all settings of Codex, so it cannot be used with --model',
    ],
    [['ollama'], "init: unexpected 'ollama'"],
    [['--json'], '--json cannot be used with init'],
  ])('%j is refused in one line, and nothing is written', async (args, problem) => {
    const where = place();
    const { status, stdout, stderr } = await init(where, args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^heddle: [^\n]*\n$/);
    expect(stderr).toContain(problem);
    expect(stderr).toContain('(see "heddle help init")');
    expect(stderr).not.toContain(KEY);
    expect(namesIn(where)).toEqual([]);
  });

  test('a config.toml that exists is kept, whatever it has, and with --replace under another name', async () => {
    for (const old of ['model = "mine"\n', 'not toml', '']) {
      const where = place({ 'config.toml': old });
      const refused = await init(where, ['--yes']);
      expect(refused).toEqual({
        status: 1,
        stdout: '',
        stderr: expect.stringContaining(`${fileOf(where)} exists already`),
      });
      expect([written(where), namesIn(where)]).toEqual([old, ['config.toml']]);
      const { status, stdout } = await init(where, ['--yes', '--replace']);
      const [, kept = ''] = namesIn(where);
      expect([status, kept, readFileSync(join(where.home, kept), 'utf8')]).toEqual([
        0,
        expect.stringMatching(/^config\.toml\.replaced-2\d{3}-/),
        old,
      ]);
      expect(stdout).toContain(`The old one is kept as ${join(where.home, kept)}.`);
      for (const name of namesIn(where))
        expect(statSync(join(where.home, name)).mode & 0o777).toBe(0o600);
      expect((await load(written(where))).get('model')).toBe('gpt-5.5');
    }
  });

  test('a link in its place is followed, and a folder is not replaced', async () => {
    const where = place();
    symlinkSync(join(where.work, 'dotfiles.toml'), fileOf(where));
    expect((await init(where, ['--yes'])).status).toBe(0);
    expect(readFileSync(join(where.work, 'dotfiles.toml'), 'utf8')).toContain(
      'model_provider = "openai"',
    );
    const other = place({ 'config.toml/a': '' });
    const { status, stderr } = await init(other, ['--yes', '--replace']);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^heddle: .*config\.toml.*\n$/)]);
  });
});

describe('--from-codex', () => {
  const SECRET = `[mcp_servers.docs]\ncommand = "docs"\nenv = { DOCS_TOKEN = "${KEY}" }\n`;
  const CODEX = `# mine\nmodel = "large"\nmodel_provider = "work"\n[model_providers.work]\nbase_url = "https://a.example/v1"\nenv_key = "WORK_KEY"\n[tui]\ntheme = "dark"\n`;

  test('takes what heddle uses, says what it leaves out, and changes nothing there', async () => {
    const where = place();
    writeFiles(where.work, {
      '.codex/config.toml': `${CODEX}${SECRET}`,
      '.codex/auth.json': `{"OPENAI_API_KEY":"${KEY}"}`,
      '.codex/AGENTS.md': 'x',
    });
    const { status, stdout, stderr } = await init(where, ['--from-codex']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const codex = join(where.work, '.codex');
    for (const text of [
      summary(where, 'provider work, model large, sandbox read-only'),
      'left out, because heddle does not use them: tui.',
      'left out, because they may have secrets: mcp_servers.docs.env. Set these variables where heddle starts, and name them in env_vars of the server.',
      `not taken from ${codex}: auth.json, AGENTS.md. To use that home as it is, set HEDDLE_HOME=${codex}.`,
      'WORK_KEY is not set.',
    ])
      expect(stdout).toContain(text);
    expect(written(where)).toContain('\nmodel = "large"\n');
    expect(written(where)).not.toContain('# mine');
    expect(`${stdout}${written(where)}`).not.toContain(KEY);
    expect(await configWarnings(sourcesIn(where.home), policyReads)).toEqual([]);
    expect(readFileSync(join(codex, 'config.toml'), 'utf8')).toBe(`${CODEX}${SECRET}`);
    expect(statSync(fileOf(where)).mode & 0o777).toBe(0o600);
  });

  test('takes the home that $CODEX_HOME names', async () => {
    const where = place();
    writeFiles(where.work, { 'other/config.toml': CODEX });
    expect(
      (await init(where, ['--from-codex'], { CODEX_HOME: join(where.work, 'other') })).status,
    ).toBe(0);
    expect(written(where)).toContain('model = "large"');
  });

  test('says that there is no key, which is not taken', async () => {
    const where = place();
    writeFiles(where.work, {
      '.codex/config.toml': 'model = "gpt-5.5"\n',
      '.codex/auth.json': `{"OPENAI_API_KEY":"${KEY}"}`,
    });
    const { status, stdout } = await init(where, ['--from-codex']);
    expect(status).toBe(0);
    expect(stdout).toContain(
      'Note: no API key was found, so the embedded model answers, offline. Set model_provider in config.toml',
    );
    expect(stdout).not.toContain(KEY);
  });

  test.each([
    ['none', {}, 2, 'does not exist: answer the questions of heddle init instead'],
    ['one that is not TOML', { '.codex/config.toml': 'model = ' }, 1, 'not valid TOML'],
    [
      'one with an invalid value',
      { '.codex/config.toml': 'sandbox_mode = "rw"\n' },
      1,
      'sandbox_mode',
    ],
    [
      'one whose profile is in another file',
      { '.codex/config.toml': 'profile = "a"\n', '.codex/a.config.toml': '' },
      1,
      'profiles.a',
    ],
  ])('refuses %s, and writes nothing', async (_name, files, code, problem) => {
    const where = place();
    writeFiles(where.work, files);
    const { status, stdout, stderr } = await init(where, ['--from-codex']);
    expect({ status, stdout }).toEqual({ status: code, stdout: '' });
    expect(stderr).toMatch(/^heddle: [^\n]*\n$/);
    expect(stderr).toContain(problem);
    expect(namesIn(where)).toEqual([]);
  });

  test('says that there is nothing to take if the home is that of Codex', async () => {
    const where = place();
    const { status, stderr } = await init(where, ['--from-codex'], { CODEX_HOME: where.home });
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining('is the home of Codex, which heddle uses as it is'),
    ]);
  });
});

describe('at a terminal', () => {
  const start = (where: Place, args: string[] = [], env: Record<string, string> = {}) =>
    TerminalRun.start(where, ['init', ...args], { env: { ...NOWHERE, ...env } });

  test('three questions: names and numbers are answers, wrong ones are asked again', async () => {
    const [where, { env }] = [place(), await withOllama(['llama3.2:latest', 'qwen3:8b'])];
    const run = await start(where, [], env);
    const end = await converseToEnd(
      run,
      ['ollama      Ollama on this machine: answers, with 2 models'],
      ['provider [ollama]: ', 'olama\n'],
      ['did you mean ollama?'],
      ['provider [ollama]: ', '2\n'],
      ['  2  qwen3:8b'],
      ['model [llama3.2:latest]: ', 'qwen3:7b\n'],
      ['does not list the model qwen3:7b. Did you mean qwen3:8b?'],
      ['model [llama3.2:latest]: ', '2\n'],
      ['sandbox [read-only]: ', '4\n'],
      ['expected a number from 1 to 3'],
      ['sandbox [read-only]: ', 'workspace-write\n'],
      [summary(where, 'provider ollama, model qwen3:8b, sandbox workspace-write').trimEnd()],
    );
    expect(end.code).toBe(0);
    expect((await load(written(where))).values).toMatchObject({
      model: 'qwen3:8b',
      model_provider: 'ollama',
      sandbox_mode: 'workspace-write',
    });
    const rows = run.lines().filter((line) => /^ {2,}\d+ {2}/.test(line));
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.filter((row) => row.length >= 80)).toEqual([]);
  });

  test('Enter takes the defaults, and a model that is typed twice is taken', async () => {
    const [where, { env }] = [place(), await withOllama(['llama3.2:latest'])];
    const run = await start(where, [], env);
    await converse(run, ['provider [ollama]: ', '\n']);
    for (const _time of [1, 2]) {
      await converse(run, ['model [llama3.2:latest]: ', 'unknown\n']);
    }
    const end = await converseToEnd(run, ['sandbox [read-only]: ', '\n']);
    expect(end.code).toBe(0);
    expect((await load(written(where))).values).toMatchObject({
      model: 'unknown',
      sandbox_mode: 'read-only',
    });
  });

  test('a URL is asked for the variable of its key, which is not the key', async () => {
    const where = place();
    const run = await start(where);
    const end = await converseToEnd(
      run,
      ['provider [openai]: ', 'http://127.0.0.1:9/v1\n'],
      ['variable of the environment with its key', 'sk-c4nary0c4nary0c4nary0\n'],
      ['not the key itself'],
      ['variable of the environment with its key', 'WORK_KEY\n'],
      ['model: ', '\n'],
      ['expected the name of a model'],
      ['model: ', 'large\n'],
      ['sandbox [read-only]: ', '\n'],
      ['WORK_KEY is not set.'],
    );
    expect(end.code).toBe(0);
    expect(written(where)).toContain('env_key = "WORK_KEY"');
    expect(written(where)).not.toContain(KEY);
  });

  test('options are not asked about', async () => {
    const where = place();
    const run = await start(where, ['--provider', 'embedded']);
    const end = await converseToEnd(run, ['sandbox [read-only]: ', '3\n']);
    expect(end.code).toBe(0);
    expect(run.shown).not.toContain('provider [');
    expect(written(where)).toContain('sandbox_mode = "danger-full-access"');
  });

  test('the settings of Codex are offered if there are any', async () => {
    const where = place();
    writeFiles(where.work, { '.codex/config.toml': 'model = "large"\n' });
    const run = await start(where);
    const end = await converseToEnd(
      run,
      [
        `9  codex       take the settings of ${join(where.work, '.codex', 'config.toml')}`.slice(
          0,
          70,
        ),
      ],
      ['provider [openai]: ', 'codex\n'],
    );
    expect(end.code).toBe(0);
    expect(written(where)).toContain('model = "large"');
  });

  /** The questions at which the command ends, and what is typed before. */
  const QUESTIONS: [string, string[]][] = [
    ['provider [openai]: ', []],
    ['model [gpt-5.5]: ', ['provider [openai]: ']],
    ['sandbox [read-only]: ', ['provider [openai]: ', 'model [gpt-5.5]: ']],
  ];

  test.each(QUESTIONS)('Ctrl-C at %j leaves nothing', async (question, before) => {
    const where = place();
    const run = await start(where);
    for (const each of before) {
      await converse(run, [each, '\n']);
    }
    const end = await converseToEnd(run, [question, '\x03']);
    expect(end).toEqual({ code: 130, signal: null });
    expect(run.shown).toMatch(/Nothing was written\.\r\n$/);
    expect([namesIn(where), readdirSync(where.temp)]).toEqual([[], []]);
  });

  test.each(QUESTIONS)('the end of the input at %j leaves nothing', async (question, before) => {
    const where = place();
    const run = await start(where);
    for (const each of before) {
      await converse(run, [each, '\n']);
    }
    const end = await converseToEnd(run, [question, '\x04']);
    expect(end.code).toBe(1);
    expect(run.shown).toMatch(/Nothing was written\.\r\n$/);
    expect(namesIn(where)).toEqual([]);
  });

  test('a signal while a provider is asked leaves nothing', async () => {
    const where = place();
    let wake = () => {};
    const asked = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const silent = await ProviderServer.start(() => wake());
    onTestFinished(async () => silent[Symbol.asyncDispose]());
    const run = await start(where, ['--provider', 'ollama'], {
      OLLAMA_HOST: `127.0.0.1:${silent.port}`,
    });
    await asked;
    run.signal('SIGTERM');
    expect((await run.exit).code).toBe(143);
    expect(namesIn(where)).toEqual([]);
  });

  test('a file that appears while the questions are asked is kept', async () => {
    const where = place();
    const run = await start(where, ['--provider', 'embedded']);
    await run.until('sandbox [read-only]: ');
    writeFileSync(fileOf(where), 'model = "mine"\n');
    run.type('\n');
    expect((await run.exit).code).toBe(1);
    expect(run.shown).toContain('exists already');
    expect(written(where)).toBe('model = "mine"\n');
  });
});
