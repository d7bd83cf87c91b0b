import { expect, test } from 'vitest';
import { parseCommand } from '../../src/policy/command/parse-command.ts';
import { removesByForce } from '../../src/policy/command/removes-by-force.ts';

const removes = async (script: string) => removesByForce(await parseCommand(['bash', '-lc', script]));
/** The scripts for which it is not as expected. */
async function other(scripts: readonly string[], expected: boolean): Promise<string[]> {
  const answers = await Promise.all(scripts.map(removes));
  return scripts.filter((_, index) => answers[index] !== expected);
}

const FORCED = [
  ...[
    'rm -f x',
    'rm -rf x',
    'rm -fr x',
    'rm -Rf x',
    'rm -rfv x',
    'rm -vrf x',
    'rm -r -f x',
    'rm x -f',
    'rm -r x -f y',
    'rm -rf -- x',
    'rm -rf / --no-preserve-root',
  ],
  ...['rm --f x', 'rm --fo x', 'rm --for x', 'rm --forc x', 'rm --force x', 'rm -r --force x', 'rm --recursive --force x'],
  ...[
    '/bin/rm -f x',
    '/usr/bin/rm -rf x',
    '\\rm -f x',
    'RM -f x',
    '"rm" -f x',
    "r'm' -f x",
    'r\\m -f x',
    "rm '-f' x",
    'rm "-rf" x',
    "rm -r''f x",
    "rm $'-f' x",
    "rm $'\\x2df' x",
    'rm -\\f x',
    'grm -f x',
  ],
  ...[
    'rm $X',
    'rm "$X"',
    'rm $(echo -f) x',
    'rm `x`',
    'rm -r$X x',
    'rm -{r,f} x',
    'rm *',
    'rm *.o',
    'F=-rf; rm $F x',
    `rm \${X:--f} x`,
    '$RM -rf x',
    '"$(which rm)" -f x',
    '/bin/r? -rf x',
    'C="rm -rf"; $C x',
  ],
];
const PLAIN = [
  ...[
    'rm x',
    'rm -r x',
    'rm -v x y',
    'rm -i x',
    'rm -rv dir',
    'rm --recursive x',
    'rm --one-file-system x',
    'rm -- -f',
    'rm -r -- $X',
    'rm -- *',
    'rm dir/*.o',
    'rm dir/$X',
    'rm ./-f',
    'rm file-f',
    'rmdir -f x',
  ],
  ...[
    'ls -f',
    'cp -f a b',
    'mv -f a b',
    'ln -sf a b',
    'git rm x',
    'echo rm -f x',
    "git commit -m 'rm -rf'",
    "grep -rn 'rm -rf' .",
    'cat rm -f',
    'echo "rm -rf x" > note',
    'farm -f x',
    'find . -exec rm {} +',
    'find . -exec rm -r {} \\;',
    'npm run rm -f',
    '$PAGER -n x',
    'echo $(date) -f',
    'tail -f x',
  ],
];
/** How the command stands in a script. */
const FRAMES = [
  ...[
    'C',
    'sudo C',
    'sudo -u root C',
    'doas C',
    'env A=1 C',
    'env -i C',
    'nohup C',
    'timeout 5 C',
    'nice -n 5 C',
    'command C',
    'exec C',
    'builtin command C',
    'A=1 C',
    '! C',
    'time C',
  ],
  ...[
    'cd a && C',
    'ls; C',
    'ls || C',
    'ls | C',
    'C &',
    'ls\nC',
    '(C)',
    '{ C; }',
    '$(C)',
    '`C`',
    'echo $(C)',
    'echo "a $(C)"',
    'cat <(C)',
    'f() { C; }; f',
    'C > log 2>&1',
    'C # end',
  ],
  ...[
    'for i in 1 2; do C; done',
    'while true; do C; done',
    'until x; do C; done',
    'if a; then C; fi',
    'if C; then a; fi',
    'if a; then b; else C; fi',
    'case x in a) C;; esac',
    'select a in b; do C; done',
  ],
  ...[
    'find . -exec C \\;',
    'find . -name x -execdir C {} +',
    'find . -ok C \\;',
    'ls | xargs C',
    'xargs -n1 C',
    'parallel C ::: a',
    'watch C',
    'bash <<E\nC\nE',
  ],
];
const QUOTED = [
  "bash -c 'C'",
  "sh -c 'C'",
  "bash -lc 'C'",
  "sudo sh -c 'C'",
  "zsh -c 'ls; C'",
  "eval 'C'",
  "ssh host 'C'",
  "su -c 'C'",
  "env -S 'C'",
  "trap 'C' EXIT",
  "echo 'C' | sh",
  'python3 -c \'os.system("C")\'',
  "sh <<< 'C'",
  'bash -c "bash -c \'C\'"',
];

test('commands that remove by force are recognized in every place', async () => {
  expect(await other(FORCED, true)).toEqual([]);
  expect(
    await other(
      FRAMES.flatMap((frame) => ['rm -f x', 'rm -r --forc x', '/bin/rm x -Rf'].map((command) => frame.replace('C', command))),
      true,
    ),
  ).toEqual([]);
  expect(
    await other(
      QUOTED.flatMap((frame) => ['rm -f x', 'rm -r --forc x', '/bin/rm x -Rf'].map((command) => frame.replace('C', command))),
      true,
    ),
  ).toEqual([]);
});

test('others are not', async () => {
  expect(await other(PLAIN, false)).toEqual([]);
  expect(
    await other(
      [...FRAMES.filter((frame) => !/xargs|parallel/.test(frame)), ...QUOTED].flatMap((frame) =>
        ['rm x', 'rm -r x', 'ls -f'].map((command) => frame.replace('C', command)),
      ),
      false,
    ),
  ).toEqual([]);
});
