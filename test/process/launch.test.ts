// @module-tag slow
import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { COMMAND_NAMES, commandRow } from '../../src/cli/command-line/commands.ts';
import type { ThreadStartResponse } from '../../src/protocol/generated/types.ts';
import { PROTOCOL_VERSION } from '../../src/protocol/protocol-version.ts';
import { jsonLines } from '../support/json-lines.ts';
import type { Message } from '../support/test-client.ts';
import {
  EXECUTABLE,
  environment,
  type Place,
  type ProcessOptions,
  place,
  startHeddle,
} from './support.ts';

const { version: HEDDLE_VERSION } = JSON.parse(
  readFileSync(join(EXECUTABLE, '..', '..', 'package.json'), 'utf8'),
);

const HANDSHAKE = `${JSON.stringify({ id: 1, method: 'initialize', params: { clientInfo: { name: 'test', version: '1' } } })}\n`;

interface RunOptions {
  where?: Place;
  env?: Record<string, string>;
  /** By default there is nothing to read. */
  input?: string;
  executable?: string;
}

/** Runs the command to its end. */
function run(
  args: string[],
  {
    where = place(),
    env = environment(where),
    input = '',
    executable = EXECUTABLE,
  }: RunOptions = {},
) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [executable, ...args], {
    cwd: where.work,
    env,
    encoding: 'utf8',
    input,
  });
  return { status, stdout, stderr };
}

async function threadStarted(
  options: ProcessOptions,
  where = place(),
): Promise<ThreadStartResponse> {
  const heddle = await startHeddle(where, options);
  return heddle.request('thread/start', {});
}

/** A provider of the user without a network: its models have the names that the user gives them. */
const OWN = 'model_provider = "own"\n[model_providers.own]\nwire_api = "scripted"\n';

describe('a command whose output cannot be written', () => {
  const COMMANDS = [
    ['help'],
    ['--version'],
    ['completion', 'bash'],
    ['doctor', '--json'],
    ['threads', 'list', '--json'],
  ];

  /** Runs the command to its end. `stdout`: a descriptor, or a pipe that nobody reads. */
  async function lost(args: string[], stdout: number | 'pipe') {
    const where = place();
    const options = {
      cwd: where.work,
      env: environment(where),
      stdio: ['ignore', stdout, 'pipe'] as ['ignore', number | 'pipe', 'pipe'],
    };
    const child = spawn(process.execPath, [EXECUTABLE, ...args], options);
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stdout?.destroy();
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const status = await new Promise((resolve) => child.once('close', resolve));
    return { status, stderr };
  }

  test.each(COMMANDS)('%s %s: says nothing if its reader is gone', async (...args) => {
    expect(await lost(args, 'pipe')).toEqual({ status: 1, stderr: '' });
  });

  test('says that the disk is full', async () => {
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    expect(await lost(['help'], full)).toEqual({
      status: 1,
      stderr: 'heddle: the output cannot be written: the disk is full\n',
    });
  });
});

describe('what cannot be served is told in a line', () => {
  test.each([
    ['an unknown command', ['xyzzy'], "unknown command 'xyzzy'"],
    ['an argument too many', ['app-server', 'more'], "app-server: unexpected 'more'"],
    [
      'a command like another',
      ['app-sever'],
      "unknown command 'app-sever': did you mean app-server?",
    ],
    [
      'a command with two letters swapped',
      ['docotr'],
      "unknown command 'docotr': did you mean doctor?",
    ],
    ['a short command like another', ['hlep'], "unknown command 'hlep': did you mean help?"],
    [
      'a command like another, with its help',
      ['docter', '--help'],
      "unknown command 'docter': did you mean doctor?",
    ],
    [
      'help for a command like another',
      ['help', 'docter'],
      "unknown command 'docter': did you mean doctor?",
    ],
    [
      'a generator like another',
      ['app-server', 'generate-js'],
      "unknown command 'generate-js': did you mean generate-ts?",
    ],
    [
      'an action like another',
      ['store', 'chekc'],
      'store chekc: expected backup, restore, check, repair or vacuum: did you mean check?',
      'help store',
    ],
    [
      'no action',
      ['store'],
      'store: expected backup, restore, check, repair or vacuum',
      'help store',
    ],
    ['no argument', ['store', 'backup'], 'store backup requires FILE', 'help store'],
    ['an empty argument', ['trust', ''], 'trust: an argument is empty', 'help trust'],
    [
      'an option of another command',
      ['--format', 'jsonl'],
      '--format cannot be used with app-server, only with threads export',
    ],
    [
      'an option of the server',
      ['store', 'check', '--drain'],
      '--drain cannot be used with store check, only with app-server',
      'help store',
    ],
    ['an option of Codex', ['trust', '--yolo'], '--yolo cannot be used with trust', 'help trust'],
    ['a value too many', ['--json=1', 'doctor'], '--json takes no value', 'help doctor'],
    ['an empty value', ['-m', ''], '-m requires a value, found an empty string'],
    [
      'a value that looks like an option',
      ['-c', '-s'],
      '-c requires a value: write one that begins with a hyphen as --config=VALUE',
    ],
    ['an unknown option', ['app-server', '--colour', '1'], 'unknown option --colour'],
    [
      'an option like another',
      ['--analytics-defualt-enabled', 'app-server'],
      'unknown option --analytics-defualt-enabled: did you mean --analytics-default-enabled?',
    ],
    ['an unknown letter', ['-Z'], 'unknown option -Z'],
    [
      'a feature that is no name',
      ['--enable', 'a b'],
      '--enable "a b": expected the name of a feature',
    ],
    ['an option without its value', ['app-server', '-c'], '-c requires a value'],
    [
      'a sandbox that is none',
      ['-s', 'readonly'],
      '-s readonly: expected read-only, workspace-write or danger-full-access: did you mean read-only?',
    ],
    [
      'a policy that is none',
      ['doctor', '-a', 'sometimes'],
      '-a sometimes: expected untrusted, on-failure, on-request or never',
      'help doctor',
    ],
    [
      'a level that is none',
      ['--log-level', 'wran'],
      '--log-level wran: expected off, error, warn, info or debug: did you mean warn?',
    ],
    [
      'an address to listen on that is none',
      ['--listen', 'ws://localhost:0'],
      '--listen: expected an IP address, such as 127.0.0.1 or [::1], found "localhost"',
    ],
  ] as [string, string[], string, string?][])('%s', (_name, args, problem, help = '--help') => {
    const where = place();
    const expected = {
      status: 2,
      stdout: '',
      stderr: `heddle: ${problem} (see "heddle ${help}")\n`,
    };
    expect(run(args, { where })).toEqual(expected);
    expect(readdirSync(where.home)).toEqual([]);
  });

  test('a working folder that is gone', () => {
    const { work, ...others } = place();
    const command = 'rmdir "$PWD"; exec "$0" "$@"';
    const { status, stdout, stderr } = spawnSync(
      '/bin/sh',
      ['-c', command, process.execPath, EXECUTABLE],
      {
        cwd: work,
        env: environment({ work, ...others }),
        encoding: 'utf8',
      },
    );
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^heddle: .*no such file or directory.*\n$/);
  });

  test.each([
    ['no-equals-sign', '-c no-equals-sign: expected key=value'],
    ['=x', '-c =…: "" is not a key: expected names separated by dots'],
    ['a..b=1', '-c a..b=…: "a..b" is not a key: expected names separated by dots'],
    ['model=5', '-c model: expected a non-empty string, found 5'],
    [
      'sandbox_mode=rw',
      '-c sandbox_mode: expected one of "read-only", "workspace-write", "danger-full-access", found "rw"',
    ],
    ['features.goals=maybe', '-c features.goals: expected true or false, found "maybe"'],
    ['sandbox_workspace_write=5', '-c sandbox_workspace_write: expected a table, found 5'],
    [
      'openai_base_url=sk-secret',
      '-c openai_base_url: expected an http or https URL, found a string',
    ],
  ])('-c %s', (override, problem) => {
    const where = place();
    const answer = run(['-c', 'xyzzy=1', '-c', 'model=m', '-c', override], {
      where,
      input: HANDSHAKE,
    });
    expect(answer).toEqual({
      status: 2,
      stdout: '',
      stderr: `heddle: ${problem} (see "heddle --help")\n`,
    });
    expect(readdirSync(where.home)).toEqual([]);
  });

  test.each(['exec', 'wire', 'doctor', 'models', 'mcp list'])(
    '%s -c names the help of the command',
    (command) => {
      const stderr = `heddle: -c no-equals-sign: expected key=value (see "heddle help ${command.split(' ')[0]}")\n`;
      expect(run([...command.split(' '), '-c', 'no-equals-sign'])).toEqual({
        status: 2,
        stdout: '',
        stderr,
      });
    },
  );

  test('a profile that no file has', () => {
    const where = place({ 'config.toml': '[profiles.a]\n[profiles.b]\n' });
    const known = 'config.toml has a, b, and there is no c.config.toml in';
    for (const [args, option, help] of [
      [['-p', 'c'], '-p', '--help'],
      [['models', '--profile', 'c'], '--profile', 'help models'],
      [['doctor', '-p', 'c'], '-p', 'help doctor'],
    ] as const) {
      const stderr = `heddle: ${option} c: there is no such profile: ${known} ${where.home} (see "heddle ${help}")\n`;
      expect(run([...args], { where, input: HANDSHAKE })).toEqual({
        status: 2,
        stdout: '',
        stderr,
      });
    }
    expect(run(['-p', 'b'], { where, input: HANDSHAKE }).status).toBe(0);
    const ofFile = place({ 'c.config.toml': '' });
    expect(run(['-p', 'c'], { where: ofFile, input: HANDSHAKE }).status).toBe(0);
  });

  test('a value of config.toml that is wrong does not end the start, beside settings of the command line either', async () => {
    const heddle = await startHeddle(place({ 'config.toml': 'sandbox_mode = "rw"\n' }), {
      args: ['-c', 'model=m', '-a', 'never'],
    });
    const { summary } = await heddle.waitFor('configWarning');
    expect(summary).toContain('sandbox_mode');
    expect(await heddle.refusal('thread/start', {})).toMatchObject({
      data: { code: 'config_invalid' },
    });
    expect((await heddle.request('thread/list', {})).data).toEqual([]);
  });
});

describe('the options that clients of Codex pass', () => {
  test.each([
    ['--analytics-default-enabled'],
    ['--enable', 'goals'],
    ['--disable', 'goals'],
    ['--strict-config'],
    ['--stdio'],
    ['--search'],
    ['-C', '.'],
    ['--cd=.'],
    ['--oss'],
    ['--oss', '--local-provider', 'lmstudio'],
    ['--session-source', 'vscode'],
    ['--add-dir', '/tmp'],
    ['--no-alt-screen'],
    ['--full-auto'],
    ['--dangerously-bypass-approvals-and-sandbox'],
  ])('%s %s start the server, before and after app-server', (...args) => {
    const given = args.filter((arg) => arg !== undefined);
    for (const line of [[...given, 'app-server'], ['app-server', ...given], given]) {
      const { status, stdout } = run(line, { input: HANDSHAKE });
      expect({ status, first: jsonLines<Message>(stdout)[0] }).toMatchObject({
        status: 0,
        first: { id: 1, result: {} },
      });
    }
  });

  test('set what they say, and the log has those without an effect', async () => {
    const where = place({ 'config.toml': OWN });
    const args = [
      '--search',
      '--enable',
      'goals',
      '--disable',
      'shell_tool',
      '-C',
      '..',
      '--yolo',
      'app-server',
    ];
    const heddle = await startHeddle(where, { args });
    const { config } = await heddle.request('config/read', {});
    expect(config).toMatchObject({
      web_search: 'live',
      features: { goals: true, shell_tool: false },
    });
    const { cwd } = await heddle.request('thread/start', {});
    expect(cwd).toBe(join(where.work, '..'));
    const { stderr } = run(['--yolo', '--log-level', 'info', '--analytics-default-enabled'], {
      input: HANDSHAKE,
    });
    expect(stderr).toMatch(
      /"options":\["--analytics-default-enabled"\].*these options have no effect here/,
    );
    expect(stderr).toMatch(/"options":\["--yolo"\].*these options allow nothing here/);
  });

  test('--strict-config refuses a key that heddle does not know', () => {
    const where = place({ 'config.toml': 'modle = "m"\n' });
    const { status, stdout, stderr } = run(['--strict-config', 'app-server'], {
      where,
      input: HANDSHAKE,
    });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^heddle: --strict-config: .*config\.toml:1.*modle.*\n$/);
    expect(
      run(['app-server', '--strict-config', '-c', 'xyzzy=1'], { input: HANDSHAKE }).status,
    ).toBe(2);
  });

  test('a folder that does not exist is told', () => {
    expect(run(['-C', 'none'], { input: HANDSHAKE })).toEqual({
      status: 2,
      stdout: '',
      stderr: 'heddle: -C none: the folder does not exist\n',
    });
  });
});

test('a client that closes its side after the handshake gets the warnings about its configuration', () => {
  const where = place({ 'config.toml': 'modle = "m"\nmodel_provider = "scripted"\n' });
  const { status, stdout } = run([], { where, input: HANDSHAKE });
  expect(status).toBe(0);
  expect(jsonLines<Message>(stdout)).toMatchObject([
    { id: 1, result: {} },
    {
      method: 'configWarning',
      params: { summary: expect.stringContaining('modle'), path: join(where.home, 'config.toml') },
    },
  ]);
});

/**
 * Writes to a file, in their order: the scripts that a server reads, with their sizes, and that it
 * writes to stdout.
 */
const LAUNCH_NOTES = `
const fs = require('node:fs');
const note = (text) => fs.appendFileSync(process.env.NOTES, text + '\\n');
const { readFileSync } = fs;
fs.readFileSync = (file, ...others) => {
  const content = readFileSync(file, ...others);
  if (String(file).includes('.cjs')) note(file.split('/').pop().split('.')[0] + ' ' + content.length);
  return content;
};
const { write } = process.stdout;
process.stdout.write = (...args) => { note('write 0'); return write.apply(process.stdout, args); };
`;

test('the handshake is answered before most of the code is read', () => {
  const where = place({ 'notes.cjs': LAUNCH_NOTES });
  const notes = join(where.home, 'notes');
  const env = {
    ...environment(where),
    NODE_OPTIONS: `--require ${join(where.home, 'notes.cjs')}`,
    NOTES: notes,
  };
  const { status, stdout } = run([], { where, env, input: HANDSHAKE });
  expect(status).toBe(0);
  expect(jsonLines<Message>(stdout)[0]).toMatchObject({
    id: 1,
    result: { serverInfo: { name: 'heddle' } },
  });
  const events = readFileSync(notes, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  const names = events.map(([name]) => name);
  const answered = names.indexOf('write');
  expect(new Set(names.slice(0, answered))).toEqual(new Set(['heddle', 'shared']));
  expect(names.slice(answered)).toContain('late');
  const bytes = events.slice(0, answered).reduce((sum, [, length]) => sum + Number(length), 0);
  expect(bytes).toBeLessThan(1_000_000);
});

describe('what is only asked is answered on stdout', () => {
  test.each([[['--version']], [['-V']], [['app-server', '--version']]])(
    '%j: the version of the protocol, and its own',
    (args) => {
      const own = `heddle's own version is ${HEDDLE_VERSION}, that of the protocol ${PROTOCOL_VERSION}`;
      expect(run(args)).toEqual({
        status: 0,
        stdout: `heddle ${PROTOCOL_VERSION}\n${own}\n`,
        stderr: '',
      });
    },
  );

  test.each([
    ['codex', 'codex-cli'],
    ['codex2', 'heddle'],
  ])(
    '--version of a link %s has the name %s, since clients look for that of Codex',
    (name, expected) => {
      const where = place();
      const executable = join(where.work, name);
      symlinkSync(EXECUTABLE, executable);
      expect(run(['--version'], { where, executable })).toEqual({
        status: 0,
        stdout: expect.stringMatching(new RegExp(`^${expected} ${PROTOCOL_VERSION}\n`)),
        stderr: '',
      });
    },
  );

  const linesOver80 = (text: string) => text.split('\n').filter(({ length }) => length > 80);

  test.each([[['--help']], [['help']]])(
    '%j: all commands, and the options of the server',
    (args) => {
      const { status, stdout, stderr } = run(args);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toMatch(/^usage: heddle \[app-server\] \[options\]\n/);
      for (const option of [
        '--config KEY=VALUE',
        '--sandbox',
        '--ask-for-approval',
        '--listen ADDRESS',
        '--help',
        '--version',
      ])
        expect(stdout).toContain(option);
      for (const name of COMMAND_NAMES) expect(stdout).toMatch(new RegExp(`^ {2}${name} +`, 'm'));
      expect(linesOver80(stdout)).toEqual([]);
    },
  );

  test.each(COMMAND_NAMES)('heddle help %s: its own help, as with --help', (name) => {
    const asked = run(['help', name]);
    const { actions = {}, options } = commandRow(name);
    expect(asked).toMatchObject({ status: 0, stderr: '' });
    expect(linesOver80(asked.stdout)).toEqual([]);
    expect([run([name, '--help']), run(['-h', name]), run(['help', name, 'more'])]).toEqual([
      asked,
      asked,
      asked,
    ]);
    const shown = [...asked.stdout.matchAll(/^ {2}(?:-\w,| {3}) --([\w-]+)/gm)].map(
      ([, option]) => option,
    );
    const own = [options, ...Object.values(actions).map((action) => action.options)].flatMap(
      (rows) => Object.keys(rows),
    );
    expect(shown).toEqual([...new Set([...own, 'help', 'version'])]);
    for (const action of Object.keys(actions))
      expect(asked.stdout).toContain(`heddle ${name} ${action}`);
  });
});

describe('the forms that clients start it in', () => {
  test.each([
    [[]],
    [['app-server']],
    [['app-server', '--listen', 'stdio://']],
    [['--listen', 'stdio://', 'app-server']],
  ])('heddle %j serves', async (args) => {
    const { model, modelProvider, approvalPolicy, sandbox } = await threadStarted({ args });
    expect({ model, modelProvider, approvalPolicy, sandbox }).toEqual({
      model: 'embedded',
      modelProvider: 'embedded',
      approvalPolicy: 'on-request',
      sandbox: { type: 'readOnly', networkAccess: false },
    });
  });

  test.each([
    [['-c', 'model=from-c', '--config', 'approval_policy=untrusted', 'app-server']],
    [['app-server', '-c', 'model="from-c"', '--config', 'approval_policy="untrusted"']],
    [['-c', 'model=from-c', 'app-server', '--config=approval_policy=untrusted']],
  ])('heddle %j: settings before and after the command', async (args) => {
    expect(await threadStarted({ args }, place({ 'config.toml': OWN }))).toMatchObject({
      model: 'from-c',
      approvalPolicy: 'untrusted',
    });
  });

  test.each([
    [
      ['-s', 'read-only', '-a', 'never', 'app-server'],
      { approvalPolicy: 'never', sandbox: { type: 'readOnly', networkAccess: false } },
    ],
    [
      [
        '-m',
        'small',
        '--sandbox',
        'danger-full-access',
        '--ask-for-approval',
        'untrusted',
        'app-server',
      ],
      { model: 'small', approvalPolicy: 'untrusted', sandbox: { type: 'dangerFullAccess' } },
    ],
    [
      ['-c', 'model=weak', '-m', 'strong', 'app-server'],
      { model: 'strong', approvalPolicy: 'on-request' },
    ],
  ])('heddle %j: in the answer of thread/start', async (args, expected) => {
    const where = place({
      'config.toml': `approval_policy = "on-request"\nsandbox_mode = "workspace-write"\n${OWN}`,
    });
    expect(await threadStarted({ args }, where)).toMatchObject(expected);
  });
});

test('server/diagnostics tells of the process itself', async () => {
  const heddle = await startHeddle(place());
  const { process: told } = await heddle.request('server/diagnostics', {});
  expect(told).toEqual({
    id: heddle.pid,
    residentMemoryBytes: expect.any(Number),
    physicalFootprintBytes: null,
  });
  expect(told.residentMemoryBytes).toBeGreaterThan(10_000_000);
});

describe('its home', () => {
  async function homeOf(env: Record<string, string>, where = place()): Promise<string> {
    const heddle = await startHeddle(where, { env, handshake: false });
    return (await heddle.initialize()).codexHome;
  }

  test('HEDDLE_HOME wins over CODEX_HOME, which wins over ~/.heddle; an empty variable is none', async () => {
    const where = place();
    const [heddleHome, codexHome] = [join(where.temp, 'a'), join(where.temp, 'b')];
    expect(await homeOf({ HEDDLE_HOME: heddleHome, CODEX_HOME: codexHome })).toBe(heddleHome);
    expect(await homeOf({ HEDDLE_HOME: '', CODEX_HOME: codexHome })).toBe(codexHome);
    expect(await homeOf({ HEDDLE_HOME: '', CODEX_HOME: '' }, where)).toBe(
      join(where.work, '.heddle'),
    );
    expect([heddleHome, codexHome].filter(existsSync)).toEqual([]);
  });

  test('a relative one starts at the working folder', async () => {
    const where = place();
    expect(await homeOf({ HEDDLE_HOME: 'some/home' }, where)).toBe(
      join(where.work, 'some', 'home'),
    );
  });

  test('is made with the first thread, for its user alone, and holds nothing but what is named after heddle', async () => {
    const where = place();
    const home = join(where.home, 'new', 'home');
    const heddle = await startHeddle(where, { env: { HEDDLE_HOME: home } });
    expect(existsSync(home)).toBe(false);
    await heddle.request('thread/start', {});
    expect(statSync(home).mode & 0o777).toBe(0o700);
    await heddle.finish();
    expect(readdirSync(home)).toEqual(['heddle-writers', 'heddle.db']);
  });
});
