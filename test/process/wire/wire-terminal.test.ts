import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TerminalRun } from '../exec/terminal-run.ts';
import { type Place, place } from '../support.ts';

/** The model is the embedded one: it does what the prompt says. */
const CONFIG =
  'model_provider = "scripted"\nsandbox_mode = "danger-full-access"\napproval_policy = "untrusted"\n';
const GREETING = 'Ctrl-D ends.';

function scripted(): Place {
  return place({ 'config.toml': CONFIG });
}

/** A session whose line can be edited. */
async function atPrompt(
  where: Place,
  args: string[] = [],
  options: Parameters<typeof TerminalRun.start>[2] = {},
): Promise<TerminalRun> {
  const run = await TerminalRun.start(where, ['wire', ...args], options);
  await run.until(GREETING);
  await run.until('> ');
  return run;
}

test('Tab completes what is typed, from the method to the answer of a request', async () => {
  const where = scripted();
  const run = await atPrompt(where);
  run.type('thread/sta\t');
  await run.until('rt ');
  run.type('\n');
  await run.until('→ {"id":2,"method":"thread/start","params":{}}');
  await run.until('← {"id":2,"result":');
  run.type('turn/sta\t');
  await run.until('rt ');
  run.type('inp\t');
  await run.until('ut=');
  run.type('\'call exec_command {"cmd": "touch made.txt"}\'\n');
  await run.until('→ {"id":3,"method":"turn/start"');
  await run.until('requestApproval');
  await run.until('  answer accept|acceptForSession|decline|cancel');
  run.type('\t');
  await run.until('answer ');
  run.type('decl\t');
  await run.until('ine ');
  run.type('\n');
  await run.until('"result":{"decision":"decline"}}');
  await run.until('"method":"turn/completed"');
  run.type('\x04');
  expect(await run.exit).toEqual({ code: 0, signal: null });
  expect(existsSync(join(where.work, 'made.txt'))).toBe(false);
});

test('the lines before are in the history', async () => {
  const run = await atPrompt(scripted());
  run.type('thread/loaded/list\n');
  await run.until('← {"id":2');
  run.type('\x1b[A\n');
  await run.until('← {"id":3');
  run.type('exit\n');
  expect(await run.exit).toEqual({ code: 0, signal: null });
});

test('messages that come while a line is typed do not touch it', async () => {
  const run = await atPrompt(scripted());
  run.type('thread/start\n');
  await run.until('← {"id":2');
  run.type('turn/start input="wait 300\\nsay done"\n');
  await run.until('"turn/started"');
  const long = `thread/name/set name=${'n'.repeat(200)}`;
  run.type(long);
  await run.until('"turn/completed"');
  run.type('\n');
  await run.until(`→ {"id":4,"method":"thread/name/set","params":{"threadId":`);
  await run.until(`"name":"${'n'.repeat(200)}"}}`);
  run.type('\x04');
  expect(await run.exit).toEqual({ code: 0, signal: null });
});

test('a wrong line is not sent, an unknown name is reported, and help and show explain', async () => {
  const run = await atPrompt(scripted());
  run.type('turn/start hello\n');
  await run.until('heddle: expected NAME=VALUE, found hello');
  run.type('turn/start input=hi\n');
  await run.until('heddle: @thread: no thread yet');
  run.type('show\n');
  await run.until('heddle: show: there was no response yet');
  run.type('thread/start aprovalPolicy=never\n');
  await run.until(
    'heddle: thread/start has no params.aprovalPolicy: the server ignores it: did you mean approvalPolicy?',
  );
  await run.until('← {"id":2');
  run.type('show\n');
  await run.until('"thread": {');
  run.type('show thread/started\n');
  await run.until('"method": "thread/started"');
  run.type('help turn/strat\n');
  await run.until('a client cannot send turn/strat: did you mean turn/start?');
  run.type('help turn/interrupt\n');
  await run.until('threadId                 string, required');
  run.type('wait\n');
  await run.until('heddle: wait: only lines of files and pipes can wait');
  run.type('exit\n');
  expect(await run.exit).toEqual({ code: 0, signal: null });
});

describe('Ctrl-C', () => {
  test('clears the line, interrupts the turn, and twice ends the session', async () => {
    const run = await atPrompt(scripted());
    run.type('nonsense\x03thread/start\n');
    await run.until('← {"id":2');
    run.type('turn/start input="wait 100000"\n');
    await run.until('"turn/started"');
    run.type('\x03');
    await run.until('→ {"id":4,"method":"turn/interrupt"');
    await run.until('"status":"interrupted"');
    run.type('\x03');
    await run.until('ending the session');
    expect(await run.exit).toEqual({ code: 130, signal: null });
    expect(run.shown).not.toContain('no method nonsense');
  });
});

describe('what a person reads', () => {
  const HOSTILE = 'turn/start input="say fin\\u001b[2Ke\\u202e"\n';

  test('has nothing of the model that acts on the terminal', async () => {
    const run = await atPrompt(scripted());
    run.type('thread/start\n');
    await run.until('← {"id":2');
    run.type(HOSTILE);
    await run.until('fin\\u001b[2Ke\\u202e');
    await run.until('"turn/completed"');
    run.type('\x04');
    expect((await run.exit).code).toBe(0);
    for (const acting of ['\u202e', 'fin\u001b']) expect(run.shown).not.toContain(acting);
  });

  test.each([[80], [40], [0]])(
    'is cut at six lines of %i columns, with colors',
    async (columns) => {
      const run = await atPrompt(scripted(), [], { columns, env: { NO_COLOR: '' } });
      run.type('thread/start\n');
      await run.until(' characters)');
      run.type('\x04');
      expect((await run.exit).code).toBe(0);
      expect(run.shown).toContain('\x1b[36m"method"\x1b[0m:\x1b[1m"thread/start"\x1b[0m');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what moves the cursor and colors the text.
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
    await run.until('item/commandExecution/requestApproval');
    await run.until('&& touch made.txt');
    await run.until('"availableDecisions":["accept"');
    run.type('refuse\n');
    await run.until('"turn/completed"');
    run.type('exit\n');
    expect((await run.exit).code).toBe(0);
  });

  test('is whole with --whole, and a terminal that is dumb gets no escapes', async () => {
    const run = await atPrompt(scripted(), ['--whole'], { env: { TERM: 'dumb', NO_COLOR: '' } });
    run.type('thread/start\n');
    await run.until('"multiAgentMode":"explicitRequestOnly"}}');
    run.type('exit\n');
    expect((await run.exit).code).toBe(0);
    expect(run.shown).not.toContain('\x1b');
  });
});

test('a session that is saved is sent again before the first prompt', async () => {
  const where = scripted();
  const first = await atPrompt(where, ['--save', 'saved.jsonl']);
  first.type('thread/start\n');
  await first.until('← {"id":2');
  first.type('turn/start input="say one"\n');
  await first.until('"turn/completed"');
  first.type('turn/start input="say two"\n');
  await first.until('"turn/completed"');
  first.type('exit\n');
  expect((await first.exit).code).toBe(0);
  expect(readFileSync(join(where.work, 'saved.jsonl'), 'utf8').trimEnd().split('\n')).toHaveLength(
    4,
  );
  const second = await TerminalRun.start(where, ['wire', '--replay', 'saved.jsonl']);
  await second.until('"text":"say one"');
  await second.until('"turn/completed"');
  await second.until('"text":"say two"');
  await second.until(GREETING);
  second.type('exit\n');
  expect((await second.exit).code).toBe(0);
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
