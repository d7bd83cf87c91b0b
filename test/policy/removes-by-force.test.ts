import { expect, test } from 'vitest';
import { type Force, removesByForce } from '../../src/policy/command/removes-by-force.ts';
import { parseCommand } from '../../src/policy/parse/parse-command.ts';

const removes = async (script: string) =>
  removesByForce(await parseCommand(['bash', '-lc', script]));
/** The scripts for which it is not as expected, with the answer. */
async function other(
  scripts: readonly string[],
  ...expected: (Force | null)[]
): Promise<[string, Force | null][]> {
  const answers = await Promise.all(
    scripts.map(async (script): Promise<[string, Force | null]> => [script, await removes(script)]),
  );
  return answers.filter(([, answer]) => !expected.includes(answer));
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
  ...[
    'rm --f x',
    'rm --fo x',
    'rm --for x',
    'rm --forc x',
    'rm --force x',
    'rm -r --force x',
    'rm --recursive --force x',
  ],
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
];
/** The line has the option, and whether an `rm` gets it is uncertain. */
const POSSIBLE = [
  ...[
    'rm $(echo -f) x',
    'rm -r$X x',
    'rm -{r,f} x',
    'rm {-r,-f} x',
    'rm -r{,f} x',
    'rm -$F x',
    'rm --fo$X x',
  ],
  ...[
    'F=-rf; rm $F x',
    'F=-rf; rm "$F" x',
    `rm \${X:--f} x`,
    'set -- -rf x; rm "$@"',
    'for f in -r -f; do rm $f x; done',
  ],
  ...[
    '$RM -rf x',
    '"$(which rm)" -f x',
    '/bin/r? -rf x',
    '/bin/?m -rf x',
    'X=rm; $X -rf y',
    '$SUDO rm -rf x',
    'X=rm; /bin/$X --force y',
  ],
  ...[
    'C="rm -rf"; $C x',
    "C='rm -rf'; sudo $C x",
    '$(echo rm -rf x)',
    'for C in "rm -rf"; do $C x; done',
    'set -- rm -rf x; "$@"',
  ],
  ...[
    'S=\'os.system("rm -rf x")\'; python3 -c "$S"',
    'node -e \'spawnSync("rm", ["-rf", "x"])\'',
    'perl -e "system(qw(rm -rf x))"',
  ],
  ...[
    'python3 <<E\nos.system("rm -rf x")\nE',
    'echo "system(%q(rm -rf x))" | ruby',
    'echo "rm -rf x" | $SHELL',
    'echo "rm -rf x" |& sudo python3 -',
    'echo "rm -rf x" | cat | A=1 /usr/bin/python3',
    'cat x <<E | node -\nrm -f\nE',
  ],
  `$X ${'x'.repeat(17_000)}; rm -rf x`,
];
/** Behind a runner, each word may begin a command. */
const SUBCOMMANDS = [
  ...[
    'sudo docker rm -f c',
    'time docker compose rm -f',
    'ls | xargs docker rm -f',
    'timeout 10 git rm -f x',
    'sudo -E podman volume rm -f v',
  ],
  ...['sudo echo rm -f x', 'sudo git -C dir rm -rf x', 'env A=1 npm rm -f x'],
];
/** Only if a file or a value is called like an option. */
const UNLIKELY = [
  ...[
    'rm $X',
    'rm "$X"',
    'rm -r "$tmp"',
    'tmp=$(mktemp); rm "$tmp"',
    'rm `x`',
    'rm *',
    'rm ?',
    'rm "$@"',
    'rm $X$Y',
    'tar -xf a; rm "$b"',
  ],
  ...[
    'git ls-files | xargs rm',
    'find . -name x -print0 | xargs -0 rm',
    'ls | xargs -I{} rm {}',
    'ls | parallel rm',
    'for f in *; do rm "$f"; done',
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
    'rm ~/foo.txt',
    'rm -r ~/build',
    'rm {a,b}.txt',
    'rm {d,f}',
    'rm a{d,f}',
    'rm "$HOME/x"',
    'rm -r $HOME/x',
    'rm "$X.o"',
    'rm "$X"_old',
    'rm *.o',
    'rm [ab]',
    'rm *~',
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
    '"$COMPOSE" -f x.yml up',
    './scripts/$N -f x',
    './scripts/rm-$N -f x',
    'node x.js; docker rm -f c',
    'python3 -c "print(1)"; grep "rm -rf" README',
    'grep -rn "rm -rf" . | awk "{print}"',
    'grep -rn "rm -rf" . | perl -ne print x',
    '"$PYTHON" x.py; docker rm -f c',
    'node -v; grep "rm -rf" x | head',
    'node -v || grep "rm -rf" x',
    'git log | python3 -m json.tool; grep "rm -rf" x',
    'node "$X" && git rm -f y',
    'A=1 python3 x.py | tee log; docker rm -f c',
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

const COMMANDS = ['rm -f x', 'rm -r --forc x', '/bin/rm x -Rf'];
const framed = (frames: readonly string[], commands: readonly string[]) =>
  frames.flatMap((frame) => commands.map((command) => frame.replace('C', command)));

test('commands that remove by force are recognized in every place', async () => {
  expect(await other(FORCED, 'certain')).toEqual([]);
  expect(await other(framed(FRAMES, COMMANDS), 'certain')).toEqual([]);
  expect(
    await other(
      [
        'git submodule foreach rm -rf x',
        'sudo docker rm c; rm -f c',
        'docker rm -f c; sudo rm -f x',
      ],
      'certain',
    ),
  ).toEqual([]);
  // Whether an interpreter runs a text is uncertain.
  expect(await other(framed(QUOTED, COMMANDS), 'certain', 'possible')).toEqual([]);
});

test('commands that may get the option are told from those that get a name or a value', async () => {
  expect(await other(POSSIBLE, 'possible')).toEqual([]);
  expect(await other(SUBCOMMANDS, 'possible')).toEqual([]);
  expect(await other(UNLIKELY, 'unlikely')).toEqual([]);
});

test('others are not', async () => {
  expect(await other(PLAIN, null)).toEqual([]);
  const fixed = FRAMES.filter((frame) => !/xargs|parallel/.test(frame));
  expect(await other(framed([...fixed, ...QUOTED], ['rm x', 'rm -r x', 'ls -f']), null)).toEqual(
    [],
  );
});
