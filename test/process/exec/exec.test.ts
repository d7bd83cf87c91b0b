// @module-tag slow
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { writeFiles } from '../../config/temp-folder.ts';
import { exampleServer, PNG } from '../../mcp/mcp-thread.ts';
import { jsonLines } from '../../support/json-lines.ts';
import {
  EXECUTABLE,
  environment,
  type Place,
  place,
  providerToml,
  startHeddle,
} from '../support.ts';
import { CONFIG, call, scripted } from './scripted-exec.ts';

const HELP = ' (see "heddle help exec")\n';
const USAGE = /^tokens: \d+ in, \d+ out; [\d.]+ s\n$/;

interface RunOptions {
  where?: Place;
  input?: string;
  env?: Record<string, string>;
  cwd?: string;
}

/** Runs `heddle exec` in pipes, to its end. */
function exec(
  args: string[],
  { where = scripted(), input = '', env = {}, cwd = where.work }: RunOptions = {},
) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [EXECUTABLE, 'exec', ...args], {
    cwd,
    env: { ...environment(where), ...env },
    encoding: 'utf8',
    input,
    timeout: 60_000,
  });
  return { status, stdout, stderr };
}

function start(
  where: Place,
  args: string[],
  stdio: 'pipe' | ['pipe' | 'ignore', 'pipe', 'pipe'] = 'pipe',
): ChildProcess {
  const child = spawn(process.execPath, [EXECUTABLE, 'exec', ...args], {
    cwd: where.work,
    env: environment(where),
    stdio,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

const command = (cmd: string) => call('exec_command', { cmd });

interface Line {
  method: string;
  params: {
    threadId?: string;
    thread?: { id: string };
    item?: { type: string; text?: string; content?: { text?: string }[] };
    turn?: { status: string };
  };
}

/** The messages in the wire log. */
function messagesIn({
  work,
}: Place): { method?: string; params?: object; result?: { approvalPolicy?: string } }[] {
  const lines = readFileSync(join(work, 'wire.jsonl'), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line).message);
}

/** The text of the user's message, and the id of the thread. */
function sentMessage(stdout: string): { threadId: string | undefined; text: string | undefined } {
  const lines = jsonLines<Line>(stdout);
  const message = lines.find(
    ({ method, params }) => method === 'item/completed' && params.item?.type === 'userMessage',
  );
  return { threadId: message?.params.threadId, text: message?.params.item?.content?.[0]?.text };
}

describe('in a pipe', () => {
  test('stdout has the last message alone, and stderr what comes before it', () => {
    const model = JSON.stringify([
      [{ message: 'I look.' }, { call: 'exec_command', arguments: { cmd: 'echo seen' } }],
      [{ message: 'Two\n\tlines \u001b[2K\u202e' }],
    ]);
    const where = place({ 'talk.yaml': model });
    const options = [
      '--model-script',
      join(where.home, 'talk.yaml'),
      '-s',
      'danger-full-access',
      '-a',
      'never',
    ];
    const { status, stdout, stderr } = exec([...options, 'look'], { where });
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'Two\n\tlines \u001b[2K\u202e\n' });
    expect(stderr).toMatch(
      /^I look\.\n\$ .*echo seen.*\n {2}\| seen\n {2}exit code 0 after [\d.]+ s\ntokens: /,
    );
  });

  test('there is nothing to read about but the usage', () => {
    expect(exec(['say hello'])).toEqual({
      status: 0,
      stdout: 'hello\n',
      stderr: expect.stringMatching(USAGE),
    });
  });

  test('a turn that fails gives no answer, says why, and the exit code is 1', () => {
    const { status, stdout, stderr } = exec(['say half\nfail usageLimitExceeded']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^half\nheddle: .+\n$/);
  });

  test('the agent does what it does in a few lines', () => {
    const patch = [
      '*** Begin Patch',
      '*** Add File: a.txt',
      ...Array.from({ length: 20 }, (_, index) => `+line ${index}`),
      '*** End Patch',
    ];
    const steps = [
      'think hard',
      `call update_plan ${JSON.stringify({
        explanation: 'why',
        plan: [
          { step: 'one', status: 'completed' },
          { step: 'two', status: 'in_progress' },
        ],
      })}`,
      `call apply_patch ${JSON.stringify({ input: patch.join('\n') })}`,
      `call mcp__ex__echo ${JSON.stringify({ message: 'hi' })}`,
      command('seq 100; exit 3'),
    ];
    const where = scripted(exampleServer());
    const { status, stdout, stderr } = exec(['--approve', 'accept', steps.join('\n')], { where });
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'done\n' });
    for (const part of [
      'plan: why\n  [x] one\n  [>] two\n',
      /^add a\.txt \(\+20 -0\)\n {2}\| \+line 0\n {2}\| \+line 1\n {2}\| \+line 2\n {2}\| \+line 3\n {2}\| … 12 more lines\n {2}\| \+line 16\n/m,
      'ex.echo {"message":"hi"}\n  | echo: hi\n',
      /\n {2}\| … 92 more lines\n {2}\| 97\n {2}\| 98\n {2}\| 99\n {2}\| 100\n {2}exit code 3 after [\d.]+ s\n/,
    ])
      expect(stderr).toEqual(
        typeof part === 'string' ? expect.stringContaining(part) : expect.stringMatching(part),
      );
  });

  test('hooks that refuse, fail or warn, and an MCP server that does not start, are named on stderr', () => {
    const gone = '[mcp_servers.gone]\ncommand = "/no/such/server"\n';
    const hooks = {
      UserPromptSubmit: [
        { hooks: [{ type: 'command', command: `echo '{"systemMessage": "Be careful."}'` }] },
      ],
      PreToolUse: [
        { matcher: 'Bash', hooks: [{ type: 'command', command: 'echo "Not now." >&2; exit 2' }] },
      ],
      Stop: [
        {
          hooks: [
            { type: 'command', command: 'exit 7' },
            { type: 'command', command: 'true' },
          ],
        },
      ],
    };
    const where = place({
      'config.toml': `${CONFIG}${gone}`,
      'hooks.json': JSON.stringify({ hooks }),
    });
    const { status, stdout, stderr } = exec([command('touch made.txt')], { where });
    expect({ status, stdout, isMade: existsSync(join(where.work, 'made.txt')) }).toEqual({
      status: 0,
      stdout: 'done\n',
      isMade: false,
    });
    expect(stderr.split('\n').filter((line) => /^(?:hook|warning: the MCP)/.test(line))).toEqual([
      expect.stringMatching(
        /^warning: the MCP server gone did not start, so its tools are missing: .*\/no\/such\/server/,
      ),
      'hook userPromptSubmit: Be careful.',
      'hook preToolUse (blocked): Not now.',
      expect.stringMatching(/^hook stop \(failed\): .*7/),
    ]);
  });

  test('nobody is asked, so what needs approval is declined, which stderr says', () => {
    const where = scripted();
    const { status, stdout, stderr } = exec([command('touch made.txt')], { where });
    expect({ status, stdout, isMade: existsSync(join(where.work, 'made.txt')) }).toEqual({
      status: 0,
      stdout: 'done\n',
      isMade: false,
    });
    expect(stderr).toContain(
      'The agent wants to run this command. Declined: no terminal. --approve accept would allow it.\n',
    );
  });

  test('a reader that goes away ends it quietly, whether it writes or waits', async () => {
    for (const prompt of ['repeat 100000 word\nwait 100000', 'say one\nwait 100000']) {
      const child = start(scripted(), ['--json', prompt], ['ignore', 'pipe', 'pipe']);
      let stderr = '';
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        stderr += text;
      });
      child.stdout?.once('data', () => child.stdout?.destroy());
      expect([await once(child, 'close'), stderr]).toEqual([[141, null], '']);
    }
  });

  test('an interrupt by a signal ends the turn, and with it all that it has started', async () => {
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
      ['SIGHUP', 129],
    ] as const) {
      const where = scripted();
      const child = start(
        where,
        ['--json', '--approve', 'accept', command('echo $$ >pid; exec sleep 1000')],
        ['ignore', 'pipe', 'pipe'],
      );
      let stdout = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        stdout += text;
      });
      const pid = await pidIn(where);
      child.kill(signal);
      expect(await once(child, 'close')).toEqual([code, null]);
      expect(jsonLines<Line>(stdout).at(-1)).toMatchObject({
        method: 'turn/completed',
        params: { turn: { status: 'interrupted' } },
      });
      expect(existsSync(`/proc/${pid}`)).toBe(false);
    }
  });

  test('kill -9 leaves no process, and the thread can be continued', async () => {
    const where = scripted();
    const child = start(
      where,
      ['--approve', 'accept', command('echo $$ >pid; exec sleep 1000')],
      ['ignore', 'pipe', 'pipe'],
    );
    child.stdout?.resume();
    child.stderr?.resume();
    const pid = await pidIn(where);
    child.kill('SIGKILL');
    await once(child, 'close');
    await vi.waitFor(() => expect(existsSync(`/proc/${pid}`)).toBe(false), { timeout: 30_000 });
    expect(exec(['--last', 'say again'], { where })).toMatchObject({
      status: 0,
      stdout: 'again\n',
    });
  });
});

/** The id of a process that a command writes to a file, as soon as it is there. */
function pidIn({ work }: Place): Promise<string> {
  return vi.waitFor(
    () => {
      const pid = readFileSync(join(work, 'pid'), 'utf8').trim();
      expect(pid).toMatch(/^\d+$/);
      return pid;
    },
    { timeout: 30_000 },
  );
}

describe('stdin', () => {
  test.each([
    ['is the prompt', [], 'say piped\n', 'say piped\n'],
    ['is the prompt if a hyphen says so', ['-'], 'say piped\n', 'say piped\n'],
    [
      'stands behind the prompt',
      ['say this'],
      'and\nthat\n',
      'say this\n\n<stdin>\nand\nthat\n</stdin>',
    ],
    ['is left out if it is empty', ['say this'], '', 'say this'],
  ])('%s', (_, args, input, text) => {
    const { status, stdout } = exec(['--json', ...args], { input });
    expect([status, sentMessage(stdout).text]).toEqual([0, text]);
  });

  test.each([
    ['', 'heddle: exec: the prompt is empty: give it in quotes, or pipe it into stdin\n'],
    [' \n', 'heddle: exec: the prompt is empty: give it in quotes, or pipe it into stdin\n'],
    ['x'.repeat(3_200_000), 'heddle: exec: stdin is too long: at most 1048576 characters\n'],
  ])('is refused as a prompt if it is empty or too long', (input, stderr) => {
    expect(exec([], { input })).toEqual({ status: 2, stdout: '', stderr });
  });

  test('a person reads that it is still open', async () => {
    const child = start(scripted(), ['say hi']);
    const [text] = await once(child.stderr ?? child, 'data');
    expect(String(text)).toBe('Reading stdin until it ends. Use </dev/null to leave it out.\n');
    child.stdin?.end();
    child.stderr?.resume();
    let stdout = '';
    child.stdout?.setEncoding('utf8').on('data', (more: string) => {
      stdout += more;
    });
    expect([await once(child, 'close'), stdout]).toEqual([[0, null], 'hi\n']);
  });
});

describe('--json', () => {
  test('stdout has the notifications of the server as they are on the wire', () => {
    const where = scripted();
    const { status, stdout, stderr } = exec(
      ['--json', '--wire-log', 'wire.jsonl', 'think hard\nsay hi'],
      { where },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const sent = messagesIn(where).filter((message) => 'emittedAtMs' in message);
    expect(jsonLines<Line>(stdout)).toEqual(sent);
    const methods = jsonLines<Line>(stdout).map(({ method }) => method);
    expect(methods.slice(0, 1)).toEqual(['thread/started']);
    expect(methods).toContain('item/agentMessage/delta');
    expect(methods.at(-1)).toBe('turn/completed');
  });

  test('a turn that fails says why on stderr too', () => {
    const { status, stdout, stderr } = exec(['--json', 'fail usageLimitExceeded']);
    expect([status, jsonLines<Line>(stdout).at(-1)]).toMatchObject([
      1,
      { method: 'turn/completed', params: { turn: { status: 'failed' } } },
    ]);
    expect(stderr).toMatch(/^heddle: .+\n$/);
  });
});

describe('--resume and --last', () => {
  test('continue a thread that another process started, and --last says which', () => {
    const where = scripted();
    const other = join(where.work, 'other');
    mkdirSync(other);
    symlinkSync(where.work, join(where.home, 'link'));
    const first = sentMessage(exec(['--json', 'say first'], { where }).stdout).threadId ?? '';
    const second =
      sentMessage(exec(['--json', 'say second\nthird'], { where }).stdout).threadId ?? '';
    sentMessage(exec(['--json', 'say elsewhere'], { where, cwd: other }).stdout);
    const last = exec(['--last', 'say more'], { where });
    expect(last).toMatchObject({ status: 0, stdout: 'more\n' });
    expect(last.stderr).toContain(`continues thread ${second}: say second\n`);
    expect(
      sentMessage(exec(['--json', '--resume', first, 'say again'], { where, cwd: other }).stdout)
        .threadId,
    ).toBe(first);
    // The first one is now the last that was used, and a folder may have another name.
    for (const folder of [where.work, join(where.home, 'link')])
      expect(
        sentMessage(
          exec(['--json', '--last', '-C', folder, 'say last'], { where, cwd: other }).stdout,
        ).threadId,
      ).toBe(first);
  });

  test('continue a thread of another client, with the settings of the command line', async () => {
    const where = scripted();
    const heddle = await startHeddle(where);
    const { thread } = await heddle.request('thread/start', { cwd: where.work });
    await heddle.turn(thread.id, 'say one');
    await heddle.finish();
    const resumed = (...args: string[]) =>
      exec(['--json', '--wire-log', 'wire.jsonl', '--last', ...args, 'say two'], { where });
    const policyOf = () =>
      messagesIn(where).flatMap(({ result }) =>
        result?.approvalPolicy === undefined ? [] : [result.approvalPolicy],
      )[0];
    expect([sentMessage(resumed().stdout).threadId, policyOf()]).toEqual([thread.id, 'untrusted']);
    writeFileSync(join(where.work, 'wire.jsonl'), '');
    expect([sentMessage(resumed('-a', 'on-request').stdout).threadId, policyOf()]).toEqual([
      thread.id,
      'on-request',
    ]);
  });

  test('a rollout of Codex is continued by its file, as another thread of this home', () => {
    const where = scripted();
    const id = '01900000-0000-7000-8000-00000000000a';
    const line = (type: string, payload: object) =>
      `${JSON.stringify({ timestamp: '2026-11-01T10:00:00.000Z', type, payload })}\n`;
    const meta = {
      id,
      timestamp: '2026-11-01T10:00:00.000Z',
      cwd: where.work,
      originator: 'codex_cli_rs',
      cli_version: '0.169.0',
      source: 'cli',
    };
    const content = [{ type: 'input_text', text: 'Fix the login.' }];
    const message = line('event_msg', {
      type: 'user_message',
      message: 'Fix the login.',
      images: [],
    });
    const file = `rollout-2026-11-01T10-00-00-${id}.jsonl`;
    const text = `${line('session_meta', meta)}${line('response_item', { type: 'message', role: 'user', content })}${message}`;
    writeFileSync(join(where.work, file), text);
    expect(exec(['--resume', id, 'say on'], { where })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('--resume FILE'),
    });
    const { threadId = '' } = sentMessage(
      exec(['--json', '--resume', file, 'say on'], { where }).stdout,
    );
    const last = exec(['--resume', threadId, 'say further'], { where });
    expect(last).toMatchObject({ status: 0, stdout: 'further\n' });
    expect(readFileSync(join(where.work, file), 'utf8')).toBe(text);
    expect(exec(['--resume', './gone.jsonl', 'x'], { where })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('gone.jsonl'),
    });
  });

  test('a thread whose provider is not configured any more is continued with another one', async () => {
    const where = scripted();
    const gone = ['-c', 'model_providers.gone={wire_api="embedded"}', '-c', 'model_provider=gone'];
    const { threadId = '' } = sentMessage(exec(['--json', ...gone, 'say one'], { where }).stdout);
    const refused = exec(['--resume', threadId, 'say two'], { where });
    expect(refused).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('unknown model provider: gone'),
    });
    for (const choice of [['-c', 'model_provider = "embedded"'], []])
      expect(exec([...choice, '--resume', threadId, 'say two'], { where })).toMatchObject({
        status: 0,
        stdout: 'two\n',
      });
  });

  test('a thread that does not exist is refused, with what to do', () => {
    const unknown = '01900000-0000-7000-8000-000000000000';
    const hint =
      'heddle threads list prints the ids of threads, and --last continues the last one here. --resume FILE continues a rollout of Codex.\n';
    expect(exec(['--resume', unknown, 'x'])).toEqual({
      status: 1,
      stdout: '',
      stderr: `heddle: no rollout found for thread id ${unknown}\n${hint}`,
    });
    expect(exec(['--resume', 'me', 'x'])).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^heddle: invalid thread id: "me" is not a UUID\n.*--last/),
    });
    const where = scripted();
    const none = `heddle: --last: there is no thread of the folder ${where.work} yet: start one without --last\n`;
    expect(exec(['--last', 'x'], { where })).toEqual({ status: 2, stdout: '', stderr: none });
  });
});

describe('--approve', () => {
  const patch = call('apply_patch', {
    input: '*** Begin Patch\n*** Add File: made.txt\n+x\n*** End Patch',
  });
  const inSandbox = ['-s', 'workspace-write', '-a', 'on-request'];
  const permissions = call('request_permissions', {
    reason: 'to fetch',
    permissions: { network: { enabled: true } },
  });

  test.each([
    ['accept', 0, true],
    ['acceptForSession', 0, true],
    ['decline', 0, false],
    ['cancel', 130, false],
  ])(
    '%s answers for commands, patches, permissions and calls of MCP tools',
    (approve, status, isDone) => {
      const where = scripted(`[features]\nrequest_permissions_tool = true\n${exampleServer()}`);
      const made = join(where.work, 'made.txt');
      const run = (...args: string[]) => exec(['--approve', approve, ...args], { where });
      const remove = () => existsSync(made) && writeFileSync(made, '') === undefined;
      expect([run(command('touch made.txt')).status, remove()]).toEqual([status, isDone]);
      const other = patch.replace('made.txt', 'patched.txt');
      expect([run(other).status, existsSync(join(where.work, 'patched.txt'))]).toEqual([
        status,
        isDone,
      ]);
      const wired = run('--wire-log', 'wire.jsonl', ...inSandbox, permissions);
      const granted = readFileSync(join(where.work, 'wire.jsonl'), 'utf8').includes(
        '"result":{"permissions":{"network":{"enabled":true}',
      );
      expect([wired.status, granted]).toEqual([status, isDone]);
      const called = run(...inSandbox, call('mcp__ex__write', { path: 'here' }));
      expect([called.status, called.stderr.includes('wrote here')]).toEqual([status, isDone]);
    },
  );

  test('answers no questions that only a person can answer', () => {
    const where = scripted(
      `[features]\ndefault_mode_request_user_input = true\n${exampleServer()}`,
    );
    const question = {
      id: 'q',
      header: 'Which',
      question: 'Which one?',
      options: [{ label: 'A', description: 'first' }],
    };
    const asks = exec(
      ['--approve', 'accept', call('request_user_input', { questions: [question] })],
      { where },
    );
    expect(asks).toMatchObject({
      status: 0,
      stdout: 'done\n',
      stderr: expect.stringContaining('The agent has a question. Not answered: no terminal.\n'),
    });
    const request = {
      message: 'Who?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
    };
    const form = exec(
      [
        '--approve',
        'accept',
        '-a',
        'on-request',
        call('mcp__ex__ask', { method: 'elicitation/create', request }),
      ],
      {
        where,
      },
    );
    expect(form).toMatchObject({
      status: 0,
      stdout: 'done\n',
      stderr: expect.stringContaining('The MCP server ex asks: Who? Not answered: no terminal.\n'),
    });
    expect(form.stderr).toContain('"action":"decline"');
  });
});

describe('files of the command line', () => {
  test('an image and a schema reach the model', () => {
    const where = place({ 'talk.yaml': '- { match: { user: look }, reply: seen }\n' });
    writeFiles(where.work, {
      'a.png': Buffer.from(PNG, 'base64'),
      'schema.json': '{"type": "object"}',
    });
    const args = ['--wire-log', 'wire.jsonl', '--model-script', join(where.home, 'talk.yaml')];
    const { status, stdout } = exec(
      [...args, '-i', 'a.png', '--output-schema', 'schema.json', 'look'],
      { where },
    );
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'seen\n' });
    expect(messagesIn(where).find(({ method }) => method === 'turn/start')?.params).toEqual({
      threadId: expect.any(String),
      input: [
        { type: 'text', text: 'look' },
        { type: 'localImage', path: join(where.work, 'a.png') },
      ],
      outputSchema: { type: 'object' },
    });
  });

  test.each([
    [['--image', 'none.png'], '--image none.png: the file cannot be read: it does not exist'],
    [['--image', 'text.png'], '--image text.png: it is not a PNG, JPEG, GIF, WebP or BMP file'],
    [['--image', '.'], '--image .: the file cannot be read: '],
    [
      ['--output-schema', 'none.json'],
      '--output-schema none.json: the file cannot be read: it does not exist',
    ],
    [['--output-schema', 'text.png'], '--output-schema text.png: it is not JSON'],
    [
      ['--output-schema', 'list.json'],
      '--output-schema list.json: expected a JSON Schema, which is an object',
    ],
    [['-C', 'none'], '-C none: the folder does not exist'],
    [['--cd', 'none'], '--cd none: the folder does not exist'],
    [['-i', 'none.png'], '-i none.png: the file cannot be read: it does not exist'],
  ])('%j is refused before anything starts', (args, problem) => {
    const where = scripted();
    writeFiles(where.work, { 'text.png': 'text', 'list.json': '[]' });
    expect(exec([...args, 'say hi'], { where })).toEqual({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining(`heddle: ${problem}`),
    });
    expect(readdirSync(where.home)).toEqual(['config.toml']);
  });
});

describe('the command line', () => {
  test.each([
    [['two', 'words'], 'exec: expected one prompt, found 2 words: put the whole prompt in quotes'],
    [
      ['fork', 'x'],
      'exec fork: heddle exec continues a thread with --resume ID, but does not fork it: type thread/fork in heddle wire',
    ],
    [['-c', 'foo', 'x'], '-c foo: expected key=value'],
    [['--config', 'foo', 'x'], '--config foo: expected key=value'],
    [['-c', 'model=5', 'x'], '-c model: expected a non-empty string, found 5'],
    [['--resume', 'x', '--last', 'y'], '--resume and --last cannot be used together'],
    [
      ['--approve', 'yes', 'y'],
      '--approve yes: expected ask, accept, acceptForSession, decline or cancel: did you mean accept?',
    ],
    [['--drain', 'y'], '--drain cannot be used with exec, only with app-server'],
    [['--deterministic', 'y'], '--deterministic cannot be used with exec, only with app-server'],
    [['--image', '', 'y'], '--image requires a value, found an empty string'],
    [['--resume', '', 'y'], '--resume requires a value, found an empty string'],
  ])('exec %j is refused', (args, problem) => {
    expect(exec(args)).toEqual({ status: 2, stdout: '', stderr: `heddle: ${problem}${HELP}` });
  });

  test.each(['--approve', '--resume', '--output-schema'])('%s belongs to exec', (option) => {
    const where = place();
    const { status, stderr } = spawnSync(process.execPath, [EXECUTABLE, option, 'x'], {
      env: environment(where),
      encoding: 'utf8',
      input: '',
    });
    expect([status, stderr]).toEqual([
      2,
      `heddle: ${option} cannot be used with app-server, only with exec (see "heddle --help")\n`,
    ]);
  });

  test('the forms of scripts for Codex run a turn, and continue its thread', () => {
    const where = scripted();
    const first = exec(['--skip-git-repo-check', '--json', 'say one'], { where });
    const { threadId = '' } = sentMessage(first.stdout);
    const resumed = exec(['resume', threadId, '--json', 'say two'], { where });
    const last = exec(['resume', '--last', '--json', '-'], { where, input: 'say three' });
    expect([resumed, last].map(({ status, stdout }) => [status, sentMessage(stdout)])).toEqual([
      [0, { threadId, text: 'say two' }],
      [0, { threadId, text: 'say three' }],
    ]);
    expect(first.stderr).toBe('');
  });

  test('--ephemeral stores no thread', () => {
    const where = scripted();
    expect(exec(['--ephemeral', 'say one'], { where })).toMatchObject({
      status: 0,
      stdout: 'one\n',
    });
    expect(exec(['--last', 'say two'], { where })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('there is no thread'),
    });
  });

  test('options of Codex that would allow more allow nothing, which stderr says', () => {
    const { status, stderr } = exec(['--yolo', 'say hi']);
    expect(status).toBe(0);
    expect(stderr).toMatch(
      /^--yolo: allows nothing here; --sandbox, --ask-for-approval and --approve do\n/,
    );
  });
});

describe('what is wrong is said in a line or two', () => {
  test.each([
    [
      'an unknown provider',
      'model_provider = "nope"\n',
      'config.toml:1:1: model_provider: unknown model provider: nope.',
    ],
    [
      'a key that is missing',
      'model_provider = "openai"\nmodel = "m"\n',
      'heddle: The key of model provider "OpenAI" is missing: log in with an API key, or set the environment variable OPENAI_API_KEY.\n',
    ],
    ['a file that is not TOML', 'model = \n', 'heddle: invalid config: '],
    // Port 9 of this machine has no server.
    [
      'a provider that cannot be reached',
      providerToml(9),
      'cannot be reached: the connection was refused. Check that the server is running and that base_url is correct.',
    ],
  ])('%s', (_, config, problem) => {
    const { status, stdout, stderr } = exec(['hi'], { where: place({ 'config.toml': config }) });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(problem);
    expect(stderr.trimEnd().split('\n').length).toBeLessThanOrEqual(2);
  });

  test('a warning is shown once, and the turn goes on', () => {
    const { status, stdout, stderr } = exec(['say hi'], {
      where: place({ 'config.toml': `${CONFIG}unknown_key = 1\n` }),
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'hi\n' });
    expect(stderr.match(/^warning: .*unknown_key/gm)).toHaveLength(1);
  });

  test('many warnings about the configuration are one line, and the log and heddle doctor have each of them once', () => {
    const keys = Array.from({ length: 8 }, (_, index) => `unknown_key_${index}`);
    const deprecated = '[features]\nguardian_approval = true\n';
    const where = place({
      'config.toml': `${CONFIG}${keys.map((key) => `${key} = 1\n`).join('')}${deprecated}`,
    });
    const { stderr } = exec(['say hi'], { where });
    const count =
      /^warning: there are (\d+) warnings about the configuration: heddle doctor prints them, --log-level warn logs them\n/;
    expect(stderr.match(/^warning/gm)).toHaveLength(1);
    const [, shown] = count.exec(stderr) ?? [];
    const logged = exec(['--log-level', 'warn', 'say hi'], { where })
      .stderr.split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line).summary);
    expect([logged.length, new Set(logged).size]).toEqual([Number(shown), Number(shown)]);
    const doctor = spawnSync(process.execPath, [EXECUTABLE, 'doctor', '--json'], {
      cwd: where.work,
      env: environment(where),
      encoding: 'utf8',
    }).stdout;
    for (const summary of logged) expect(doctor).toContain(JSON.stringify(summary).slice(1, -1));
  });

  test('the log is silent unless it is asked for', () => {
    expect(exec(['--log-level', 'info', 'say hi']).stderr).toMatch(/^\{"level":30/m);
    expect(exec(['say hi'], { env: { HEDDLE_LOG: 'info' } }).stderr).toMatch(/^\{"level":30/m);
  });
});
