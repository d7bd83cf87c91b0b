import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCommand } from '../../src/policy/parse/parse-command.ts';
import { tempFolder } from '../config/temp-folder.ts';

const traced = async (script: string) =>
  (await parseCommand(['bash', '-c', script])).tracedCommands?.map(({ words }) => words) ?? null;

test('lists every simple command, with \\0 for text that only the shell knows', async () => {
  expect(await traced('ls -l')).toEqual([['ls', '-l']]);
  expect(await traced('if a "$x"; then b *.c > f; else c $(d); fi | e &')).toEqual([
    ['a', '\0'],
    ['b', '\0.c'],
    ['c', '\0'],
    ['d'],
    ['e'],
  ]);
  expect(await traced("cat <<'E' | a\n$(b)\nE\nc")).toEqual([['cat'], ['a'], ['c']]);
  expect(await traced('echo `ls -l` {} a}')).toEqual([
    ['echo', '\0', '\0{}\0', 'a\0'],
    ['ls', '-l'],
  ]);
  expect(await traced('$x y')).toEqual([['\0', 'y']]);
});

test.each([
  'a=1 b',
  'a=1',
  'export a=b',
  'f() { a; }',
  'echo $((a))',
  '[[ -n a ]]',
  'for ((;;)); do a; done',
  'for path in a; do b; done',
  'case a in b) c;; esac',
  'cat <<E\n$(a)\nE',
  'a\\\nb',
  `a ${'$'}{b:-c}`,
  'a \u00a0b',
  'a "b',
  // bash ends the substitution at the second backtick, also inside quotes.
  "echo `echo '`; ./x; echo `'`",
  'echo `echo "`; ./x; echo `"`',
  'echo "`echo \'`; ./x; echo `\'`"',
  'echo `ls #`; ./x; echo `',
  'echo `echo \\`ls\\``',
  // In zsh, `}` as a word of its own ends a block.
  '{ ls } always { ./x; }',
  'while ls; do ls } ./x; done',
  '{ ls; ls } ; ./x; }',
  'if ls; then ls { ./x; }; fi',
  'echo }',
  'echo {',
  'ls > } ./x',
  'for a in }; do ls; done',
  'cat <<< }',
])('cannot tell the commands of %j', async (script) => {
  expect(await traced(script)).toBeNull();
});

/** The places of shells that may be installed. */
const SHELLS = ['/bin/bash', '/bin/sh', '/bin/zsh', '/usr/bin/zsh'].filter((shell) =>
  existsSync(shell),
);
const PIECES =
  'ls|npx|npx|npx a|cat|$x|"$x"|\'a b\'|`npx`|$(npx)|<(npx)|"$(npx)"|> f|< f|<<E|<<-E|<<\'E\'|<<<|\n|\n|\nE\n|\nE\n|E|\t|\\|||&&|;|;|(|)|{|}|' +
  "if|then|fi|else|for i in|do|done|while|[[|]]|x=|[|]|$[|$@{|}|!|&|#|\\|\"|'|`|case|in|esac|;;|function|ls()|$|*|?|~|$'\\x6e'";

test('no shell runs a program that the list does not have', async () => {
  const cwd = tempFolder();
  const words = PIECES.split('|').map((piece) =>
    piece === '' ? '|' : piece.replace('$@{', '$' + '{'),
  );
  const script = fc.array(
    fc.tuple(fc.constantFrom(...words), fc.constantFrom(' ', ' ', ' ', '', '\n')),
    { minLength: 1, maxLength: 10 },
  );
  let followed = 0;
  await fc.assert(
    fc.asyncProperty(script, async (parts) => {
      const text = parts.flat().join('');
      const commands = await traced(text);
      // With any unknown program name, nothing is promised.
      if (
        commands === null ||
        commands.some(([program = '']) => program.includes('\0') || program.endsWith('npx'))
      )
        return;
      followed += 1;
      for (const shell of SHELLS) {
        // Without programs in PATH, the shell names each program that it tries to run.
        const { stderr } = spawnSync(shell, ['-c', text], {
          cwd,
          env: { PATH: '/nowhere', HOME: cwd },
          encoding: 'utf8',
          timeout: 5000,
          input: '',
        });
        expect(stderr, `${shell}: ${JSON.stringify(text)}`).not.toMatch(
          /\bnpx: (?:command )?not found|not found: npx/,
        );
      }
    }),
    { seed: 1, numRuns: 1000 },
  );
  expect(followed).toBeGreaterThan(20);
}, 600_000);
