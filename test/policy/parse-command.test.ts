import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { parseCommand } from '../../src/policy/parse/parse-command.ts';

/** A clock in place of the system's, while a test sets it. */
const slowClock: { monotonicMs: (() => number) | null } = { monotonicMs: null };

vi.mock('../../src/base/clock.ts', async (importOriginal) => {
  const clock = await importOriginal<typeof import('../../src/base/clock.ts')>();
  return { ...clock, monotonicMs: () => (slowClock.monotonicMs ?? clock.monotonicMs)() };
});

const words = async (script: string) =>
  (await parseCommand(['bash', '-lc', script])).commands?.map((command) => command.words) ?? null;

/** The words that bash passes on: each in angle brackets, one line for each command. */
function seenByBash(script: string, names: readonly string[]): string[][] {
  const show = `show() { printf '<%s>' "$@"; echo; }\n`;
  const functions = names.map((name) => `function ${name} { show ${name} "$@"; }\n`).join('');
  const output = execFileSync(
    'bash',
    ['--norc', '--noprofile', '-c', `${show}${functions}${script}`],
    { encoding: 'utf8' },
  );
  return output
    .split('>\n')
    .filter((line) => line !== '')
    .map((line) => line.slice(1).split('><'));
}

describe('a shell with a script', () => {
  test.each([
    [['bash', '-lc', 'ls -l'], 'ls -l'],
    [['/bin/bash', '-c', 'ls -l'], 'ls -l'],
    [['/usr/bin/zsh', '-l', '-c', 'ls -l'], 'ls -l'],
    [['sh', '-c', 'ls -l'], 'ls -l'],
  ])('%j is parsed as its script', async (argv, text) => {
    expect(await parseCommand(argv)).toMatchObject({
      argv,
      text,
      commands: [{ words: ['ls', '-l'] }],
    });
  });

  test.each([
    [['/tmp/bash', '-c', 'ls']],
    [['./bash', '-lc', 'ls']],
    [['bash', '-ic', 'ls']],
    [['bash', '-c', 'ls', 'x']],
    [['bash', '-l -c', 'ls']],
    [['bash', 'ls']],
    [['fish', '-c', 'ls']],
  ])('%j is parsed as an ordinary program', async (argv) => {
    expect((await parseCommand(argv)).commands).toEqual([{ words: argv }]);
  });

  test('a command without a shell is shown as a person would type it', async () => {
    expect(await parseCommand(['grep', "it's", 'a b'])).toMatchObject({
      text: "grep \"it's\" 'a b'",
      commands: [{ words: ['grep', "it's", 'a b'] }],
    });
  });
});

describe('understood', () => {
  test.each<[string, string[][]]>([
    ['', []],
    ['# nothing', []],
    ['ls', [['ls']]],
    [
      'git status; rm x',
      [
        ['git', 'status'],
        ['rm', 'x'],
      ],
    ],
    [
      'git status\nrm x',
      [
        ['git', 'status'],
        ['rm', 'x'],
      ],
    ],
    ['a && b || c | d;', [['a'], ['b'], ['c'], ['d']]],
    ['ls # && rm x', [['ls']]],
    ['\\g\\it status', [['git', 'status']]],
    ["g''it st'at'us", [['git', 'status']]],
    ['"git" "a b"c\'d e\'', [['git', 'a bcd e']]],
    ['echo "a\\"b\\n\\\\c"', [['echo', 'a"b\\n\\c']]],
    ["echo 'a\\b'", [['echo', 'a\\b']]],
    ['rg "foo$" src', [['rg', 'foo$', 'src']]],
    ['rg "a$|b"', [['rg', 'a$|b']]],
    [
      'echo a\\ b a#b --x=y HEAD~2 HEAD^ 12',
      [['echo', 'a b', 'a#b', '--x=y', 'HEAD~2', 'HEAD^', '12']],
    ],
    ['ls \\\n  -l', [['ls', '-l']]],
    ['echo "two\nlines"', [['echo', 'two\nlines']]],
    ['echo héé 日本', [['echo', 'héé', '日本']]],
    ['env git push', [['env', 'git', 'push']]],
  ])('%j', async (script, expected) => {
    expect(await words(script)).toEqual(expected);
  });

  test('gives the same words as bash, with any quotes', async () => {
    const plain = fc.stringMatching(/^[a-zA-Z0-9_./:@%+,-]{1,6}$/);
    const single = fc.stringMatching(/^[ -&(-=?-~]{0,6}$/).map((text) => `'${text}'`);
    const double = fc.stringMatching(/^[ -=?-~]{0,6}$/).map((text) => `"${text}"`);
    const escaped = fc.stringMatching(/^[ -=?-~]$/).map((char) => `\\${char}`);
    const special = fc.constantFrom(
      '=',
      '#',
      '~',
      '!',
      '^',
      '$',
      '*',
      '{a,b}',
      '[a]',
      '$x',
      '\\',
      '"',
      "'",
      '`',
      ' ',
      '&',
      ';',
      '(',
      '\t',
      '~root',
    );
    const piece = fc.oneof(
      { weight: 6, arbitrary: fc.oneof(plain, single, double, escaped) },
      { weight: 1, arbitrary: special },
    );
    const word = fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join(''));
    const command = fc.array(word, { maxLength: 4 }).map((list) => ['one', ...list].join(' '));
    const script = fc
      .tuple(command, fc.constantFrom(' && ', '; ', '\n', ' \\\n'), command)
      .map((parts) => parts.join(''));
    let understood = 0;
    await fc.assert(
      fc.asyncProperty(script, async (text) => {
        const read = await words(text);
        if (
          read === null ||
          read.some(([name]) => name !== 'one') ||
          read.flat().some((part) => />|\n/.test(part))
        )
          return;
        understood += 1;
        expect(read).toEqual(seenByBash(text, ['one']));
      }),
      { numRuns: 400 },
    );
    expect(understood).toBeGreaterThan(60);
  });
});

describe('not understood', () => {
  test.each([
    'ls > x',
    'ls 2>&1',
    'cat < x',
    'cat <<E\nx\nE',
    'cat <<< x',
    'ls $(rm x)',
    'ls `rm x`',
    'ls "$(rm x)"',
    'ls "`rm x`"',
    'ls $HOME',
    'ls "$HOME"',
    `ls ${'$'}{x:=y}`,
    'ls $((1))',
    'cat <(ls)',
    "ls $'\\x2d'",
    'ls $"x"',
    'A=1 ls',
    'A=1',
    'a+=b ls',
    '(ls)',
    '{ ls; }',
    'ls &',
    'ls & rm x',
    'ls |& cat',
    'if true; then ls; fi',
    'for x in a; do ls; done',
    'ls() { rm x; }; ls',
    'function ls { rm x; }',
    '! ls',
    'time ls',
    'coproc ls',
    'noglob ls',
    '- ls',
    '[[ a ]]',
    'ls *',
    'ls a?',
    'ls [ab]',
    'ls {a,b}',
    'ls ~',
    'ls ~/x',
    'ls x=~/y',
    'ls =ls',
    'export A=1',
    'unset x',
    'ls;;ls',
    'ls &&',
    'echo "x',
    "echo 'x",
    'ls \\',
    'echo hi\r\nls',
    'echo hi\rls',
    'echo !\\\nx',
    'ls |\\\n| cat',
    'ls\0-l',
    'ls\u00a0-l',
    'ls\u2028rm x',
    'ls \u202e',
    'ls\vx',
    'ls \ud800',
  ])('%j', async (script) => {
    expect(await words(script)).toBeNull();
  });

  test('a command without words, a word with NUL, a script of no end', async () => {
    expect((await parseCommand([])).commands).toBeNull();
    expect((await parseCommand(['ls', 'a\0b'])).commands).toBeNull();
    expect(await words(`ls ${'x'.repeat(70_000)}`)).toBeNull();
  });

  test.each([
    ['parentheses', '('.repeat(30_000)],
    ['substitutions', '$('.repeat(20_000)],
    ['runners', 'env '.repeat(15_000)],
    ['quoted runners', "env 'sudo x' ".repeat(4000)],
    ['pipes', 'a|'.repeat(30_000)],
    ['quotes', '"'.repeat(60_000)],
    ['here-documents', 'cat <<E\n'.repeat(8000)],
    ['shells within shells', `${'sh -c "'.repeat(3000)}ls`],
    ['arrays', 'a=('.repeat(5000)],
    ['closing parentheses', ')'.repeat(16_000)],
  ])(
    'a hostile line of %s is given up in time, and the next command is understood',
    async (_name, script) => {
      await words(script);
      await words(script.slice(0, 16_000));
      expect(await words('ls -l')).toEqual([['ls', '-l']]);
    },
    10_000,
  );

  test('a long line is judged by its work, not by the speed of the machine', async () => {
    let now = 0;
    slowClock.monotonicMs = () => (now += 100);
    onTestFinished(() => {
      slowClock.monotonicMs = null;
    });
    const line = Array.from({ length: 640 }, (_, index) => `ls 'file ${index}'`);
    expect(await words(line.join('; '))).toEqual(line.map((_, index) => ['ls', `file ${index}`]));
    expect(now).toBeGreaterThan(1_000);
  });

  test('a long word is read whole', async () => {
    const long = `${'x'.repeat(5_000)} ${'é'.repeat(5_000)}`;
    expect(await words(`ls '${long}' -l`)).toEqual([['ls', long, '-l']]);
  });

  test('a line that is too much work may do anything, and so may its scripts that come after', async () => {
    const hard = 'a=(b '.repeat(3_000);
    const { commands, possibleCommands, tracedCommands } = await parseCommand(['bash', '-c', hard]);
    expect({ commands, possibleCommands, tracedCommands }).toEqual({
      commands: null,
      possibleCommands: [{ words: ['\0', '\0'] }],
      tracedCommands: null,
    });
    const nested = await parseCommand(['env', hard, 'rm x']);
    expect(nested.possibleCommands.map((command) => command.words)).toEqual(
      expect.arrayContaining([
        ['\0', '\0'],
        ['rm', 'x'],
      ]),
    );
  });
});
