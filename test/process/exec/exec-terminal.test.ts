import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { writeFiles } from '../../config/temp-folder.ts';
import { exampleServer } from '../../mcp/mcp-thread.ts';
import { call, scripted } from './scripted-exec.ts';
import { TerminalRun } from './terminal-run.ts';

const touch = (file: string) => call('exec_command', { cmd: `touch ${file}` });
const patch = (...lines: string[]) =>
  call('apply_patch', { input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') });

describe('a command', () => {
  test.each([
    ['y', 'completed', true],
    ['s', 'completed', true],
    ['n', 'completed', false],
    ['c', 'interrupted', false],
  ])('is asked about, and %j is answered', async (key, status, isMade) => {
    const where = scripted();
    const run = await TerminalRun.start(where, ['exec', touch('made.txt')]);
    await run.until('The agent wants to run this command.');
    await run.until(`touch made.txt`);
    await run.until(']: ');
    run.type(`${key}\n`);
    const { code } = await run.exit;
    expect([code, existsSync(join(where.work, 'made.txt'))]).toEqual([
      status === 'completed' ? 0 : 130,
      isMade,
    ]);
    expect(run.shown.includes('done')).toBe(status === 'completed');
    expect(run.shown).toMatch(/tokens: \d+ in, \d+ out; [\d.]+ s\r\n$/);
  });

  test('is asked about again until the answer is one of those that are offered', async () => {
    const where = scripted();
    const run = await TerminalRun.start(where, ['exec', touch('made.txt')]);
    for (const wrong of ['', 'yes', 'q']) {
      await run.until(']: ');
      run.type(`${wrong}\n`);
      await run.until('Type one of these letters, and Enter: y, s, a, n, c.');
    }
    await run.until(']: ');
    run.type('Y\n');
    expect([(await run.exit).code, existsSync(join(where.work, 'made.txt'))]).toEqual([0, true]);
  });

  test('is not answered by what was typed before the question', async () => {
    const command = (cmd: string) => [{ call: 'exec_command', arguments: { cmd } }];
    const where = scripted();
    writeFiles(where.home, {
      'talk.yaml': JSON.stringify([command('head -n 1 gate'), command('touch made.txt'), 'done']),
    });
    execFileSync('mkfifo', [join(where.work, 'gate')]);
    // Open in both directions, so that neither side waits for the other.
    const gate = openSync(join(where.work, 'gate'), 'r+');
    onTestFinished(() => closeSync(gate));
    const run = await TerminalRun.start(where, [
      'exec',
      '--model-script',
      join(where.home, 'talk.yaml'),
      'begin',
    ]);
    await run.until(']: ');
    // The command waits until the gate is open. The next one is asked about after that.
    run.type('y\ny\ny');
    writeSync(gate, 'open\n');
    await run.until(']: ');
    run.type('n\n');
    expect([(await run.exit).code, existsSync(join(where.work, 'made.txt'))]).toEqual([0, false]);
  });

  test('is declined at the end of the input, and so are those after it', async () => {
    const where = scripted();
    const commands = ['a.txt', 'b.txt'].map(
      (file) => `call exec_command ${JSON.stringify({ cmd: `touch ${file}` })}`,
    );
    const run = await TerminalRun.start(where, ['exec', `${commands.join('\n')}\nsay done`]);
    await run.until(']: ');
    run.type('\x04');
    expect((await run.exit).code).toBe(0);
    expect(run.shown.match(/Declined: the input of the terminal has ended/g)).toHaveLength(2);
    expect(['a.txt', 'b.txt'].filter((file) => existsSync(join(where.work, file)))).toEqual([]);
  });

  test('is asked about at the terminal while stdin and stdout are files', async () => {
    const where = scripted();
    const run = await TerminalRun.start(where, ['exec', 'read this:'], {
      script: 'printf "%s" "$PROMPT" | "$@" >answer.txt',
      env: { PROMPT: touch('made.txt') },
    });
    await run.until(']: ');
    run.type('y\n');
    expect((await run.exit).code).toBe(0);
    expect([
      readFileSync(join(where.work, 'answer.txt'), 'utf8'),
      existsSync(join(where.work, 'made.txt')),
    ]).toEqual(['done\n', true]);
  });
});

test.each([
  ['y', true],
  ['n', false],
])('a change of files is shown whole, and %j is answered', async (key, isMade) => {
  const where = scripted();
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index} ${'x'.repeat(100)}`);
  const run = await TerminalRun.start(where, [
    'exec',
    patch('*** Add File: new.txt', ...lines.map((line) => `+${line}`)),
  ]);
  await run.until('The agent wants to change files.');
  for (const line of lines) await run.until(`| +${line}\r\n`);
  await run.until(']: ');
  run.type(`${key}\n`);
  expect((await run.exit).code).toBe(0);
  expect(existsSync(join(where.work, 'new.txt'))).toBe(isMade);
});

test.each([
  ['y', 'turn'],
  ['n', null],
])('permissions are shown, and %j is answered', async (key, scope) => {
  const where = scripted('[features]\nrequest_permissions_tool = true\n');
  const input = call('request_permissions', {
    reason: 'to fetch',
    permissions: { network: { enabled: true } },
  });
  const run = await TerminalRun.start(where, [
    'exec',
    '-s',
    'workspace-write',
    '-a',
    'on-request',
    '--wire-log',
    'wire.jsonl',
    input,
  ]);
  await run.until('wants these permissions:');
  await run.until('reach the network');
  await run.until('reason: to fetch');
  await run.until(']: ');
  run.type(`${key}\n`);
  expect((await run.exit).code).toBe(0);
  const granted = `"result":{"permissions":{${scope === null ? '' : '"network":{"enabled":true}'}`;
  expect(readFileSync(join(where.work, 'wire.jsonl'), 'utf8')).toContain(granted);
});

test('questions of the agent are answered with an option and with another text', async () => {
  const where = scripted('[features]\ndefault_mode_request_user_input = true\n');
  const question = (id: string, more: object) => ({
    id,
    header: id,
    question: `Which ${id}?`,
    options: [
      { label: 'A', description: 'first' },
      { label: 'B', description: 'second' },
    ],
    ...more,
  });
  const input = call('request_user_input', {
    questions: [question('one', {}), question('two', {})],
  });
  const run = await TerminalRun.start(where, ['exec', '--wire-log', 'wire.jsonl', input]);
  await run.until('one: Which one?');
  await run.until('2  B: second');
  await run.until('answer: ');
  run.type('2\n');
  await run.until('two: Which two?');
  await run.until('answer: ');
  run.type('neither\n');
  expect((await run.exit).code).toBe(0);
  expect(readFileSync(join(where.work, 'wire.jsonl'), 'utf8')).toContain(
    '{"answers":{"one":{"answers":["B"]},"two":{"answers":["neither"]}}}',
  );
});

describe('MCP servers', () => {
  const asks = (requestedSchema: object) =>
    call('mcp__ex__ask', {
      method: 'elicitation/create',
      request: { message: 'Who are you?', requestedSchema },
    });

  test.each([
    ['y', true],
    ['n', false],
  ])('a call of a tool is asked about, and %j is answered', async (key, isCalled) => {
    const where = scripted(exampleServer());
    const run = await TerminalRun.start(where, [
      'exec',
      '-s',
      'workspace-write',
      '-a',
      'on-request',
      call('mcp__ex__write', { path: 'here' }),
    ]);
    await run.until('Allow the MCP server ex to run the tool "write"?');
    await run.until('path: "here"');
    await run.until(']: ');
    run.type(`${key}\n`);
    expect((await run.exit).code).toBe(0);
    expect(run.shown.includes('wrote here')).toBe(isCalled);
  });

  test('a form is filled in', async () => {
    const where = scripted(exampleServer());
    const properties = {
      name: { type: 'string', title: 'Your name' },
      age: { type: 'integer', minimum: 18 },
      color: { type: 'string', enum: ['red', 'green'] },
      tags: { type: 'array', items: { type: 'string', enum: ['x', 'y', 'z'] } },
      sure: { type: 'boolean', default: true },
      note: { type: 'string' },
    };
    const run = await TerminalRun.start(where, [
      'exec',
      '-a',
      'on-request',
      asks({ type: 'object', properties, required: ['name', 'age'] }),
    ]);
    await run.until('The MCP server ex asks: Who are you?');
    await run.until(']: ');
    run.type('y\n');
    const answers: [string, string][] = [
      ['Your name', ''],
      ['an answer is required', 'Ann'],
      ['age', '7'],
      ['expected at least 18', '42'],
      ['color', '2'],
      ['tags', '1, 3'],
      ['sure', ''],
      ['note', ''],
    ];
    for (const [shown, typed] of answers) {
      await run.until(shown);
      await run.until('): ');
      run.type(`${typed}\n`);
    }
    expect((await run.exit).code).toBe(0);
    const content = { name: 'Ann', age: 42, color: 'green', tags: ['x', 'z'], sure: true };
    expect(run.shown.replaceAll('\r\n', '')).toContain(
      JSON.stringify({ action: 'accept', content }).slice(0, 40),
    );
  });
});

test('an address that an MCP server wants to be opened is shown, and the call goes on', async () => {
  const where = scripted(exampleServer());
  const elicitations = [
    { mode: 'url', message: 'Log in', url: 'https://login.example/in', elicitationId: 'e1' },
  ];
  const run = await TerminalRun.start(where, [
    'exec',
    '-a',
    'on-request',
    call('mcp__ex__refuse', { elicitations, completes: 1 }),
  ]);
  await run.until('The MCP server ex asks: Log in');
  await run.until('open https://login.example/in, and answer when you are done');
  await run.until(']: ');
  run.type('y\n');
  expect((await run.exit).code).toBe(0);
  expect(run.shown).toContain('as you wish');
});

describe('Ctrl-C', () => {
  test('interrupts the turn', async () => {
    const run = await TerminalRun.start(scripted(), [
      'exec',
      '--approve',
      'accept',
      `say begun\n${call('exec_command', { cmd: 'sleep 100' })}`,
    ]);
    await run.until('sleep 100');
    run.type('\x03');
    await run.until('interrupted');
    expect(await run.exit).toEqual({ code: 130, signal: null });
    expect(run.shown).toMatch(/tokens: .*\r\n$/);
  });

  test('interrupts the turn while a question is open', async () => {
    const where = scripted();
    const run = await TerminalRun.start(where, ['exec', touch('made.txt')]);
    await run.until(']: ');
    run.type('\x03');
    await run.until('(no answer is needed any more)');
    expect(await run.exit).toEqual({ code: 130, signal: null });
    expect(existsSync(join(where.work, 'made.txt'))).toBe(false);
  });

  test('twice ends the process, whatever the turn does', async () => {
    const run = await TerminalRun.start(scripted(), ['exec', 'wait 100000']);
    await run.until('to continue it');
    run.type('\x03\x03');
    expect(await run.exit).toEqual({ code: 130, signal: null });
  });

  test('ends the process while it reads a prompt that is typed', async () => {
    const run = await TerminalRun.start(scripted(), ['exec', '-']);
    await run.until('Ctrl-D');
    run.type('say never\n\x03');
    expect(await run.exit).toEqual({ code: 130, signal: null });
  });
});

describe('what a person reads', () => {
  const AT_A_TERMINAL = [
    'exec',
    `think hard\n${call('exec_command', { cmd: 'printf "a\\033[31mb\\r\\n"; seq 100' })}`.replace(
      'say done',
      'say fin\u001b[2Ke\u202e',
    ),
  ];

  test('has no colors with NO_COLOR, and nothing that acts on the terminal', async () => {
    const run = await TerminalRun.start(scripted(), [
      'exec',
      '--approve',
      'accept',
      AT_A_TERMINAL[1] ?? '',
    ]);
    expect((await run.exit).code).toBe(0);
    expect(run.shown.replaceAll('\r\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    expect(run.shown).toContain('a\\x1b[31mb');
    expect(run.shown).toContain('fin\\x1b[2Ke\\u{202e}\r\n');
  });

  test.each([[80], [40], [0]])(
    'fits %i columns, apart from the answer, with colors',
    async (columns) => {
      const run = await TerminalRun.start(
        scripted(),
        [
          'exec',
          '--approve',
          'accept',
          call('exec_command', { cmd: `echo ${'long '.repeat(60)}` }),
        ],
        { columns, env: { NO_COLOR: '' } },
      );
      expect((await run.exit).code).toBe(0);
      expect(run.shown).toContain('\x1b[1m$ ');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the colors.
      const widths = run.lines().map((line) => line.replace(/\x1b\[\d+m/g, '').length);
      expect(Math.max(...widths)).toBe(columns === 0 ? 80 : columns);
    },
  );

  test('begins with the id of the thread, which --resume takes', async () => {
    const where = scripted();
    const first = await TerminalRun.start(where, ['exec', 'say one']);
    expect((await first.exit).code).toBe(0);
    const [, id = ''] = /heddle exec --resume (\S+)/.exec(first.shown) ?? [];
    const second = await TerminalRun.start(where, ['exec', '--resume', id, 'say two']);
    expect((await second.exit).code).toBe(0);
    expect(second.shown).toContain(`thread ${id}, model `);
    expect(second.shown).toContain('two\r\n');
  });

  test('a prompt can be typed', async () => {
    const run = await TerminalRun.start(scripted(), ['exec', '-']);
    await run.until('Ctrl-D');
    run.type('say typed\n\x04');
    expect((await run.exit).code).toBe(0);
    expect(run.shown).toContain('\ntyped\r\n');
  });

  test('without a prompt, one line says what is missing', async () => {
    const run = await TerminalRun.start(scripted(), ['exec']);
    expect(await run.exit).toEqual({ code: 2, signal: null });
    expect(run.shown).toBe(
      'heddle: exec: there is no prompt: give it in quotes, or - to type it, or pipe it into stdin\r\n',
    );
  });
});
