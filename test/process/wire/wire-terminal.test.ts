import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { converse, converseToEnd } from '../../support/converse.ts';
import { TerminalRun } from '../exec/terminal-run.ts';
import type { Place } from '../support.ts';
import { scripted } from './scripted.ts';

const GREETING = 'Ctrl-D ends.';

/** A session whose line can be edited. */
async function atPrompt(
  where: Place,
  args: string[] = [],
  options: Parameters<typeof TerminalRun.start>[2] = {},
): Promise<TerminalRun> {
  const run = await TerminalRun.start(where, ['wire', ...args], options);
  await converse(run, [GREETING], ['> ']);
  return run;
}

test('Tab completes what is typed, from the method to the answer of a request', async () => {
  const where = scripted();
  const run = await atPrompt(where);
  run.type('thread/sta\t');
  const end = await converseToEnd(
    run,
    ['rt ', '\n'],
    ['→ {"id":2,"method":"thread/start","params":{}}'],
    ['← {"id":2,"result":', 'turn/sta\t'],
    ['rt ', 'inp\t'],
    ['ut=', '\'call exec_command {"cmd": "touch made.txt"}\'\n'],
    ['→ {"id":3,"method":"turn/start"'],
    ['requestApproval'],
    ['  answer accept|acceptForSession|decline|cancel', '\t'],
    ['answer ', 'decl\t'],
    ['ine ', '\n'],
    ['"result":{"decision":"decline"}}'],
    ['"method":"turn/completed"', '\x04'],
  );
  expect(end).toEqual({ code: 0, signal: null });
  expect(existsSync(join(where.work, 'made.txt'))).toBe(false);
});

test('the lines before are in the history', async () => {
  const run = await atPrompt(scripted());
  run.type('thread/loaded/list\n');
  const end = await converseToEnd(run, ['← {"id":2', '\x1b[A\n'], ['← {"id":3', 'exit\n']);
  expect(end).toEqual({ code: 0, signal: null });
});

test('messages that come while a line is typed do not touch it', async () => {
  const run = await atPrompt(scripted());
  run.type('thread/start\n');
  await converse(
    run,
    ['← {"id":2', 'turn/start input="wait 300\\nsay done"\n'],
    ['"turn/started"'],
  );
  const long = `thread/name/set name=${'n'.repeat(200)}`;
  run.type(long);
  const end = await converseToEnd(
    run,
    ['"turn/completed"', '\n'],
    [`→ {"id":4,"method":"thread/name/set","params":{"threadId":`],
    [`"name":"${'n'.repeat(200)}"}}`, '\x04'],
  );
  expect(end).toEqual({ code: 0, signal: null });
});

test('a wrong line is not sent, an unknown name is reported, and help and show explain', async () => {
  const run = await atPrompt(scripted());
  run.type('turn/start hello\n');
  const end = await converseToEnd(
    run,
    ['heddle: expected NAME=VALUE, found hello', 'turn/start input=hi\n'],
    ['heddle: @thread: no thread yet: send thread/start or thread/resume first', 'show\n'],
    ['heddle: show: there was no response yet', 'thread/start aprovalPolicy=never\n'],
    [
      'heddle: thread/start has no params.aprovalPolicy: the server ignores it: did you mean approvalPolicy?',
    ],
    ['← {"id":2', 'show\n'],
    ['"thread": {', 'show thread/started\n'],
    ['"method": "thread/started"', 'help turn/strat\n'],
    ['a client cannot send turn/strat: did you mean turn/start?', 'help turn/interrupt\n'],
    ['threadId                 string, required', 'wait\n'],
    ['heddle: wait: only lines of files and pipes can wait', 'exit\n'],
  );
  expect(end).toEqual({ code: 0, signal: null });
});

describe('Ctrl-C', () => {
  test('clears the line, interrupts the turn, and twice ends the session', async () => {
    const run = await atPrompt(scripted());
    run.type('nonsense\x03thread/start\n');
    const end = await converseToEnd(
      run,
      ['← {"id":2', 'turn/start input="wait 100000"\n'],
      ['"turn/started"', '\x03'],
      ['→ {"id":4,"method":"turn/interrupt"'],
      ['"status":"interrupted"', '\x03'],
      ['ending the session'],
    );
    expect(end).toEqual({ code: 130, signal: null });
    expect(run.shown).not.toContain('no method nonsense');
  });
});

describe('what a person reads', () => {
  const HOSTILE = 'turn/start input="say fin\\u001b[2Ke\\u202e"\n';

  test('has nothing of the model that acts on the terminal', async () => {
    const run = await atPrompt(scripted());
    run.type('thread/start\n');
    const end = await converseToEnd(
      run,
      ['← {"id":2', HOSTILE],
      ['fin\\u001b[2Ke\\u202e'],
      ['"turn/completed"', '\x04'],
    );
    expect(end.code).toBe(0);
    for (const acting of ['\u202e', 'fin\u001b']) expect(run.shown).not.toContain(acting);
  });

  test.each([[80], [40], [0]])(
    'is cut at six lines of %i columns, with colors',
    async (columns) => {
      const run = await atPrompt(scripted(), [], { columns, env: { NO_COLOR: '' } });
      run.type('thread/start\n');
      const end = await converseToEnd(run, [' characters)', '\x04']);
      expect(end.code).toBe(0);
      expect(run.shown).toContain('\x1b[36m"method"\x1b[0m:\x1b[1m"thread/start"\x1b[0m');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are colors.
      const plain = run.lines().map((line) => line.replace(/\x1b\[[\d;]*[A-Za-z]/g, ''));
      const messages = plain.filter((line) => /^(?:> )?[→←] /.test(line));
      expect(messages.length).toBeGreaterThan(3);
      expect(Math.max(...messages.map(({ length }) => length))).toBeLessThanOrEqual(
        6 * (columns === 0 ? 80 : columns),
      );
    },
  );

  test('has the whole of what is to be decided', async () => {
    const run = await atPrompt(scripted());
    run.type('thread/start\n');
    await run.until('← {"id":2');
    const cmd = `true ${'x'.repeat(900)} && touch made.txt`;
    run.type(`turn/start input='call exec_command ${JSON.stringify({ cmd })}'\n`);
    const end = await converseToEnd(
      run,
      ['item/commandExecution/requestApproval'],
      ['&& touch made.txt'],
      ['"availableDecisions":["accept"', 'refuse\n'],
      ['"turn/completed"', 'exit\n'],
    );
    expect(end.code).toBe(0);
  });

  test('is whole with --whole, and a terminal that is dumb gets no escapes', async () => {
    const run = await atPrompt(scripted(), ['--whole'], { env: { TERM: 'dumb', NO_COLOR: '' } });
    run.type('thread/start\n');
    const end = await converseToEnd(run, ['"multiAgentMode":"explicitRequestOnly"}}', 'exit\n']);
    expect(end.code).toBe(0);
    expect(run.shown).not.toContain('\x1b');
  });
});

test('a session that is saved is sent again before the first prompt', async () => {
  const where = scripted();
  const first = await atPrompt(where, ['--save', 'saved.jsonl']);
  first.type('thread/start\n');
  const end = await converseToEnd(
    first,
    ['← {"id":2', 'turn/start input="say one"\n'],
    ['"turn/completed"', 'turn/start input="say two"\n'],
    ['"turn/completed"', 'exit\n'],
  );
  expect(end.code).toBe(0);
  expect(readFileSync(join(where.work, 'saved.jsonl'), 'utf8').trimEnd().split('\n')).toHaveLength(
    4,
  );
  const second = await TerminalRun.start(where, ['wire', '--replay', 'saved.jsonl']);
  const again = await converseToEnd(
    second,
    ['"text":"say one"'],
    ['"turn/completed"'],
    ['"text":"say two"'],
    [GREETING, 'exit\n'],
  );
  expect(again.code).toBe(0);
});

test('lines of a pipe are shown at a terminal, in both directions', async () => {
  const run = await TerminalRun.start(scripted(), ['wire'], {
    script: 'echo thread/loaded/list | "$@"',
  });
  expect((await run.exit).code).toBe(0);
  expect(run.lines().map((line) => line.slice(0, 32))).toEqual([
    '→ {"id":1,"method":"initialize",',
    expect.stringContaining('← {"id":1,"result":'),
    '→ {"method":"initialized"}',
    '→ {"id":2,"method":"thread/loade',
    expect.stringContaining('← {"id":2,"result":'),
    '',
  ]);
});

test('what show prints has no colors in a file, though messages at the terminal have some', async () => {
  const where = scripted();
  const notes = join(where.work, 'notes');
  const script = `printf 'thread/loaded/list\\nthread/loaded/list\\nshow\\n' | "$@" 2>${notes}`;
  const run = await TerminalRun.start(where, ['wire'], { script, env: { NO_COLOR: '' } });
  expect((await run.exit).code).toBe(0);
  expect(run.shown).toContain('\x1b[36m"method"');
  expect(JSON.parse(readFileSync(notes, 'utf8'))).toMatchObject({
    id: expect.any(Number),
    result: {},
  });
});
