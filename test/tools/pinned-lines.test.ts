import { mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCommand } from '../../src/policy/parse/parse-command.ts';
import { CommandPin } from '../../src/tools/command/outside/command-pin.ts';
import { tempFolder } from '../config/temp-folder.ts';
import { runs } from '../support/runs.ts';

const ENV = { PATH: '/usr/bin:/bin', HOME: '/nonexistent' };
interface Outcome {
  /** Whether the files of the line can be compared. */
  isCompared: boolean;
  /** Whether the change was noticed. */
  isNoticed: boolean;
}

/** Ways in which the file at a path becomes another one. */
const CHANGES: Record<string, (cwd: string, file: string) => void> = {
  rewritten: (cwd, file) => writeFileSync(join(cwd, file), 'exit 1\n'),
  replaced: (cwd, file) => {
    writeFileSync(join(cwd, 'new'), 'exit 1\n');
    renameSync(join(cwd, 'new'), join(cwd, file));
  },
  'in a folder that is replaced': (cwd, file) => {
    const folder = dirname(file) === '.' ? '.' : dirname(file);
    renameSync(join(cwd, folder), join(cwd, '..', `old-${basename(cwd)}`));
    mkdirSync(join(cwd, folder), { recursive: true });
    writeFileSync(join(cwd, file), 'exit 1\n');
  },
  'a link to another file': (cwd, file) => {
    writeFileSync(join(cwd, 'new'), 'exit 1\n');
    unlinkSync(join(cwd, file));
    symlinkSync(join(cwd, 'new'), join(cwd, file));
  },
};

/** Pins a line in an empty folder with some files, and then changes one of them. */
async function pinned(
  script: string,
  changed: string,
  { how = 'rewritten', cwd = join(tempFolder(), 'work'), shell = 'bash' } = {},
): Promise<Outcome> {
  mkdirSync(join(cwd, 'sub'), { recursive: true });
  mkdirSync(join(cwd, 'a', 'b'), { recursive: true });
  symlinkSync('a/b', join(cwd, 'link'));
  for (const file of ['x.sh', 'deploy.sh', 'sub/x.sh', 'a/x.sh', 'data', changed]) {
    mkdirSync(dirname(join(cwd, file)), { recursive: true });
    writeFileSync(join(cwd, file), 'exit 0\n');
  }
  const command = await parseCommand([shell, '-c', script]);
  const pin = await CommandPin.take({ command, cwd, env: ENV }, [cwd]);
  try {
    CHANGES[how]?.(cwd, changed);
    return { isCompared: pin.identity !== null, isNoticed: (await pin.changed()) !== null };
  } finally {
    await pin.close();
  }
}

test.each([
  ['A=1 sh x.sh # >x.sh', 'x.sh'],
  ['for i in 1 2; do sh x.sh; done; : >>x.sh', 'x.sh'],
  ['cat x.sh | sh', 'x.sh'],
  ['cp x.sh y && sh y', 'x.sh'],
  ['sh <x.sh', 'x.sh'],
  ['cat x.sh >y; sh y', 'x.sh'],
  ['sh x.sh >x.sh', 'x.sh'],
  ['cd sub && sh ../x.sh', 'x.sh'],
  ['cd sub && sh x.sh', 'sub/x.sh'],
  ['env sh ./x.sh >log', 'x.sh'],
  ['env -C sub sh x.sh', 'sub/x.sh'],
  ['env --chdir=sub sh x.sh', 'sub/x.sh'],
  ['make -C sub -f x.sh', 'sub/x.sh'],
  ['make -Csub -f x.sh', 'sub/x.sh'],
  ["bash -c 'env -C sub sh x.sh'", 'sub/x.sh'],
  ['A=1; env -C sub sh x.sh', 'sub/x.sh'],
  ['A=1; (cd sub && sh ../x.sh)', 'x.sh'],
  ['pushd sub; sh x.sh', 'sub/x.sh'],
  ['A=1; PATH=. x.sh', 'x.sh'],
  ['env PATH=sub x.sh', 'sub/x.sh'],
  ['mv sub t && sh t/x.sh', 'sub/x.sh'],
  ['cp -r sub t && sh t/x.sh', 'sub/x.sh'],
  ['ln -s sub t; sh t/x.sh', 'sub/x.sh'],
  ['A=1; mv sub t; cd t; sh x.sh', 'sub/x.sh'],
  ['rsync -a sub/ t/; sh t/x.sh', 'sub/x.sh'],
  ['mv a/b t; mv t/c u; sh u/x.sh', 'a/b/c/x.sh'],
  ['ln -s ../a sub/l; sh sub/l/x.sh', 'a/x.sh'],
  ['chroot sub /x.sh', 'sub/x.sh'],
  ['docker run -v ./sub:/work image sh /work/x.sh', 'sub/x.sh'],
  ['sh link/../x.sh', 'a/x.sh'],
  ['cd link && sh ../x.sh', 'a/x.sh'],
  ['cat link/../x.sh | sh', 'a/x.sh'],
  ['python3 -m x', 'x.py'],
  ['python3 -m a.b', 'a/b.py'],
  ['python3 sub', 'sub/__main__.py'],
  ['node -r ./x', 'x.js'],
  ['node sub', 'sub/index.js'],
  ['perl -I. -Mx -e 1', 'x.pm'],
  ['perl -Isub -MA::B -e 1', 'sub/A/B.pm'],
  ['npx tool', 'node_modules/.bin/tool'],
  ['npm install ./sub', 'sub/package.json'],
  ['HOME=sub bash -l', 'sub/.bash_profile'],
  ['env HOME=sub git commit', 'sub/.gitconfig'],
  ['git -c core.hooksPath=sub commit', 'sub/pre-commit'],
  ['git -c core.hooksPath=. commit', 'pre-commit'],
  ['cd sub && npm test', 'sub/.npmrc'],
  ['cd sub && npm test', 'package.json'],
])('is compared, and a change of the script is noticed: %s', async (script, changed) => {
  expect(await pinned(script, changed)).toEqual({ isCompared: true, isNoticed: true });
});

test.each([
  [
    'a word that only the shell knows',
    ['sh d*.sh', 'f=x; sh $f.sh', 'A=1; sh {x,y}.sh', 'A=1 sh ~/x.sh', 'sh x.s?'],
  ],
  [
    'quotes within a word',
    [
      'A=1 sh de"ploy".sh',
      'A=1 sh de\\ploy.sh',
      'A=1; bash -c \'sh de"ploy".sh\'',
      'bash -ec \'sh <x"."sh\'',
    ],
  ],
  [
    'quotes in a comment or a here-document',
    ['# \'\nA=1 sh de"ploy".sh # \'', "cat <<'E'\n'\nE\nA=1 sh de\"ploy\".sh '"],
  ],
  [
    'a pattern of bash',
    ['shopt -s extglob\nsh @(de)ploy.sh', 'shopt -s extglob\nA=1 sh +(de)ploy.sh'],
  ],
  [
    'a script for another shell',
    [
      'foo \'sh de"ploy".sh\'',
      "bash -c 'f=x; sh $f.sh'",
      "npx -c 'sh d*.sh'",
      "docker exec c sh -c 'cd sub; sh ../x.sh'",
    ],
  ],
  [
    'code in another language',
    [
      'python3 -c \'open("x" + ".sh")\'',
      'node -e \'require("./x")\'',
      'perl -edo+de.ploy.sh',
      "awk 'BEGIN{}' x",
    ],
  ],
  [
    'files that a program finds',
    [
      'find . -exec sh {} +',
      'ls | xargs sh',
      'A=1; ls | xargs sh',
      'find . | sh',
      'A=1; ls | sh',
      'ls >y; sh y',
    ],
  ],
  [
    'text that a program puts together',
    [
      'printf %s%s "sh de" ploy.sh | sh',
      'echo -n sh de >y; echo ploy.sh >>y; sh y',
      'rev <<<hs.x | sh',
    ],
  ],
  [
    'text that a program changes',
    [
      'echo sh deployXsh | tr X . | sh',
      'tr X . <<E | sh\nsh deployXsh\nE',
      '(echo -n sh de; echo ploy.sh) | sh',
      'A=1; echo sh x,sh | tr , . >y; sh y',
    ],
  ],
  [
    'text that another program makes',
    [
      'make -n | sh',
      'base64 -d data | sh',
      'sh < <(ls)',
      'ls > >(sh)',
      'env ls >y; sh y',
      'ls | dd of=y; sh y',
    ],
  ],
  [
    'text or files of a repository',
    [
      ...[
        'git show HEAD:x.sh | sh',
        'git checkout other && sh x.sh',
        'env git stash pop; sh x.sh',
        '/usr/lib/git-core/git-pull; sh x.sh',
      ],
      ...[
        'gh pr checkout 5 && sh x.sh',
        'A=1; gh repo sync; sh x.sh',
        'sudo -u me hg update; sh x.sh',
        "bash -c 'svn up' && sh x.sh",
      ],
    ],
  ],
])(
  'is not compared, because it may run files that the line does not name: %s',
  async (_what, scripts) => {
    for (const script of scripts)
      expect(await pinned(script, 'data'), script).toMatchObject({ isCompared: false });
  },
);

test.each([
  ['sh (de|x)ploy.sh'],
  ['sh d(eploy.sh)'],
  ['sh <1-2>.sh'],
  ['setopt extendedglob\nsh dd#eploy.sh'],
])('is not compared, because zsh replaces a pattern: %s', async (script) => {
  expect(await pinned(script, 'data', { shell: 'zsh' })).toMatchObject({ isCompared: false });
});

test.each([
  ['cat x.sh', 'x.sh'],
  ['cp x.sh y', 'x.sh'],
  ['echo hi >x.sh', 'x.sh'],
  ['touch data && sh x.sh', 'data'],
  ['sh x.sh', 'data'],
  ['rm -f data; sh x.sh', 'data'],
  ['gh pr view 5 && sh x.sh', 'data'],
  ['git fetch && sh x.sh', 'data'],
  ['for i in 1 2; do sh x.sh; done', 'data'],
])(
  'is compared, and a change of what no program runs does not count: %s',
  async (script, changed) => {
    expect(await pinned(script, changed)).toEqual({ isCompared: true, isNoticed: false });
  },
);

/** The file's name as a line can have it. */
const NAMES = [
  'x.sh',
  './x.sh',
  '"x.sh"',
  "'x.sh'",
  'x"."sh',
  'x\\.sh',
  '$PWD/x.sh',
  'x.*',
  '{x,y}.sh',
  'sub/../x.sh',
  '"$(echo x.sh)"',
  '`echo x.sh`',
];
/** How the content of a file reaches a program that runs it. */
const WAYS = [
  ...[
    'sh F',
    '. F',
    'source F',
    'bash F a b',
    'bash --rcfile F -i',
    'python3 F',
    'make -f F',
    'make -fF',
    'make --file=F',
    'node --import=F -e 1',
  ],
  ...[
    'cat F | sh',
    'head -n 9 F | bash',
    'cat data F | sh -s a',
    'sed -n p F | sh',
    'sh < F',
    'sh <F',
    'sh 0<F',
    'sh <(cat F)',
    'tee y <F | sh',
  ],
  ...[
    'cp F y && sh y',
    'mv F y; sh y',
    'ln -s F y; sh y',
    'ln F y && sh y',
    'cat F >y; sh y',
    'cat F >>y && sh y',
    'install F y; sh y',
  ],
  ...[
    'eval "$(cat F)"',
    'bash -c "$(cat F)"',
    'bash -c ". F"',
    'env -S "sh F"',
    'env A=1 sh F',
    'timeout 5 sh F',
    'nohup sh F',
    'sudo -n sh F',
  ],
  ...[
    'find . -name F -exec sh {} +',
    'echo F | xargs sh',
    'printf F | xargs -n1 sh',
    'echo sh F | sh',
    'sh <<E\n. F\nE',
    'sh <<<". F"',
  ],
  ...[
    'env PATH=. F',
    'cp F sub/y; cd sub; sh y',
    'cd sub; sh ../F',
    'cd link; cd ../..; sh F',
    'env -C a/b sh ../../F',
    'ln -s "$PWD" sub/l; sh sub/l/F',
    'cp -r . ../copy; sh ../copy/F',
    'pushd sub; . ../F; popd',
    'coproc sh F; wait',
    'exec 3<F; sh <&3',
    'cat F > >(sh)',
    'tr a a <F | sh -s',
    'docker run -v .:/w image sh /w/F',
    'chroot . /F',
    'flock data sh F',
    'hash -p F ls; ls',
    'mapfile -C ". F" -c 1 <data',
    'echo ". F" >y; sh y',
    'printf ". F" | sh',
    'ls | grep F | sh',
    'vim -c "so F" -c q',
    'perl -e "do q(F)"',
    'python3 -c "open(\'F\')"',
    'awk -f F data',
    'just --justfile F',
    'npm exec -c ". F"',
    'ssh localhost ". F"',
  ],
  ...[
    'git -c core.pager=F log',
    'git -c alias.z=!F z',
    'GIT_SSH=F git fetch',
    'BASH_ENV=F bash -c :',
    'ENV=F sh -i',
    'trap ". F" EXIT',
    'exec F',
  ],
];
/** What can stand around a command. */
const AROUND = [
  ...[
    'C',
    'C # >x.sh',
    'C; : >>x.sh',
    'C >x.sh',
    ': >x.sh; C',
    'A=1 C',
    'A=1; C',
    'true && C',
    'false || C',
    'C && true',
    'C | cat',
    'C & wait',
  ],
  ...[
    '( C )',
    '{ C; }',
    'for i in 1; do C; done',
    'while C; do break; done',
    'if C; then :; fi',
    'case a in a) C;; esac',
    'f() { C; }; f',
    '! C',
    'time C',
  ],
  ...[
    'echo $(C)',
    'cat <<E\nx.sh\nE\nC',
    '[[ -f x.sh ]] && C',
    'touch x.sh; C',
    'rm -f y; C',
    'cd . && C',
    'set -e; C',
    'C\ncat data',
    'echo x.sh >y; C',
  ],
];

test('whatever a line is like, a change of the script that it runs is noticed, or its files are not compared', {
  tags: 'seeded',
}, async () => {
  const base = tempFolder();
  // git looks no further up, where other programs work.
  mkdirSync(join(base, '.git', 'refs'), { recursive: true });
  const numRuns = Number(process.env.HEDDLE_PINNED_LINES ?? runs(300));
  let count = 0;
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...NAMES),
      fc.constantFrom(...WAYS),
      fc.tuple(fc.constantFrom(...AROUND), fc.constantFrom(...AROUND)),
      fc.constantFrom(...Object.keys(CHANGES)),
      async (name, way, [around, outer], how) => {
        // env replaces no patterns in its script, and refuses this escape.
        fc.pre(!(way.startsWith('env -S') && /[{*\\]/.test(name)));
        const script = outer.replace('C', () =>
          around.replace('C', () => way.replaceAll('F', name)),
        );
        const { isCompared, isNoticed } = await pinned(script, 'x.sh', {
          how,
          cwd: join(base, String(count++), 'work'),
        });
        if (isCompared) compared++;
        expect(isNoticed || !isCompared, script).toBe(true);
      },
    ),
    { seed: 7, numRuns },
  );
  expect(compared).toBeGreaterThan(numRuns / 10);
});
