import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCommand } from '../../src/policy/command/parse-command.ts';
import { CommandPin } from '../../src/tools/command/outside/command-pin.ts';
import { tempFolder } from '../config/temp-folder.ts';

const ENV = { PATH: '/usr/bin:/bin', HOME: '/nonexistent' };
interface Outcome {
  /** Whether the files of the line can be compared. */
  isCompared: boolean;
  /** Whether the change was noticed. */
  isNoticed: boolean;
}

/** Pins a line in an empty folder with some files, and then changes one of them. */
async function pinned(script: string, changed: string, cwd = join(tempFolder(), 'work')): Promise<Outcome> {
  mkdirSync(join(cwd, 'sub'), { recursive: true });
  for (const file of ['x.sh', 'deploy.sh', 'sub/x.sh', 'data']) writeFileSync(join(cwd, file), 'exit 0\n');
  const command = await parseCommand(['bash', '-c', script]);
  const pin = await CommandPin.take({ command, cwd, env: ENV }, [cwd]);
  try {
    appendFileSync(join(cwd, changed), 'exit 1\n');
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
])('is compared, and a change of the script is noticed: %s', async (script, changed) => {
  expect(await pinned(script, changed)).toEqual({ isCompared: true, isNoticed: true });
});

test.each([
  ['sh d*.sh'],
  ['f=x; sh $f.sh'],
  ['A=1 sh de"ploy".sh'],
  ['A=1 sh de\\ploy.sh'],
  ['A=1; sh {x,y}.sh'],
  ['A=1; (cd sub && sh ../x.sh)'],
  ['mv sub t && sh t/x.sh'],
  ['cp -r sub t && sh t/x.sh'],
  ['ln -s sub t; sh t/x.sh'],
  ['find . -name "*.sh" -exec sh {} +'],
  ['ls | xargs sh'],
  ['A=1 sh ~/x.sh'],
  ['A=1; PATH=. x.sh'],
  ["bash -c 'f=x; sh $f.sh'"],
  ["bash -c 'cd sub; sh ../x.sh'"],
  ['pushd sub; sh x.sh'],
])('is not compared, because it may run a file that it does not name in full: %s', async (script) => {
  expect(await pinned(script, 'data')).toMatchObject({ isCompared: false });
});

test.each([
  ['cat x.sh', 'x.sh'],
  ['cp x.sh y', 'x.sh'],
  ['echo hi >x.sh', 'x.sh'],
  ['touch data && sh x.sh', 'data'],
  ['sh x.sh', 'data'],
  ['rm -f data; sh x.sh', 'data'],
  ['for i in 1 2; do sh x.sh; done', 'data'],
])('is compared, and a change of what no program runs does not count: %s', async (script, changed) => {
  expect(await pinned(script, changed)).toEqual({ isCompared: true, isNoticed: false });
});

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
  ...['cp F y && sh y', 'mv F y; sh y', 'ln -s F y; sh y', 'ln F y && sh y', 'cat F >y; sh y', 'cat F >>y && sh y', 'install F y; sh y'],
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
  ...['find . -name F -exec sh {} +', 'echo F | xargs sh', 'printf F | xargs -n1 sh', 'echo sh F | sh', 'sh <<E\n. F\nE', 'sh <<<". F"'],
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

test('whatever a line is like, a change of the script that it runs is noticed, or its files are not compared', async () => {
  const base = tempFolder();
  // git looks no further up, where other programs work.
  mkdirSync(join(base, '.git'));
  let count = 0;
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...NAMES),
      fc.constantFrom(...WAYS),
      fc.constantFrom(...AROUND),
      fc.constantFrom(...AROUND),
      async (name, way, around, outer) => {
        // env replaces no patterns in its script, and refuses this escape.
        fc.pre(!(way.startsWith('env -S') && /[{*\\]/.test(name)));
        const script = outer.replace('C', () => around.replace('C', () => way.replaceAll('F', name)));
        const { isCompared, isNoticed } = await pinned(script, 'x.sh', join(base, String(count++)));
        if (isCompared) compared++;
        expect(isNoticed || !isCompared, script).toBe(true);
      },
    ),
    { seed: 7, numRuns: Number(process.env.HEDDLE_PINNED_LINES ?? 1500) },
  );
  expect(compared).toBeGreaterThan(100);
});
