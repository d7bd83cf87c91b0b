import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseCommand } from '../../src/policy/parse/parse-command.ts';
import { commandIdentity } from '../../src/tools/command/outside/command-identity.ts';
import { CommandPin } from '../../src/tools/command/outside/command-pin.ts';
import { tempFolder } from '../config/temp-folder.ts';
import { runs } from '../support/runs.ts';

const ENV = { PATH: '/usr/bin:/bin' };
const FILES = ['run.sh', 'lib/x.py', 'Makefile', 'data'];
/** Commands in the folder `work`, with the files that decide what they do. */
const COMMANDS: [script: string, code: string[]][] = [
  ['./run.sh', ['run.sh']],
  ['python3 lib/x.py data', ['lib/x.py', 'data']],
  ['timeout 5 make -j2', ['Makefile']],
  ['make --file=data', ['Makefile', 'data']],
  ['cd lib && ./x.py', ['lib/x.py', 'lib']],
  ['env A=1 sh -c "./run.sh 2>&1"', ['run.sh']],
  ['if true; then . lib/x.py; fi', ['lib/x.py']],
  ['cat run.sh lib/x.py data', []],
  ['touch new run.sh', []],
  ['git commit -am "Change it"', []],
];
const CHANGES: Record<string, (path: string) => void> = {
  rewritten: (path) => {
    renameSync(path, `${path}.old`);
    writeFileSync(path, 'other');
  },
  extended: (path) => appendFileSync(path, 'more'),
  'a link elsewhere': (path) => {
    renameSync(path, `${path}.old`);
    symlinkSync('/etc/hostname', path);
  },
  gone: (path) => rmSync(path),
};

test('a pin notices every change of what decides what a command does, and no other', {
  tags: 'seeded',
}, async () => {
  const base = tempFolder();
  // git looks no further up, where other programs work.
  mkdirSync(join(base, '.git', 'refs'), { recursive: true });
  let count = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...COMMANDS),
      fc.option(fc.constantFrom(...FILES, 'lib', '.', 'unrelated'), { nil: null }),
      fc.constantFrom(...Object.keys(CHANGES)),
      async ([script, code], changed, how) => {
        const cwd = join(base, String(count++));
        mkdirSync(join(cwd, 'lib'), { recursive: true });
        for (const file of FILES) writeFileSync(join(cwd, file), file);
        const command = await parseCommand(['bash', '-lc', script]);
        const pin = await CommandPin.take({ command, cwd, env: ENV }, [cwd]);
        try {
          change(cwd, changed, how);
          const isData =
            code.length === 0 &&
            how === 'a link elsewhere' &&
            changed !== null &&
            script.includes(changed);
          const isBelowChanged = (file: string) =>
            file === changed || file.startsWith(`${changed}/`);
          expect((await pin.changed()) !== null).toBe(
            changed === '.' || isData || code.some(isBelowChanged),
          );
          // The pinned folder is the one that was judged, even if another one now has its name.
          if (changed === '.')
            expect([
              statSync(`${pin.folder}/data`).isFile(),
              existsSync(join(cwd, 'data')),
            ]).toEqual([true, false]);
        } finally {
          await pin.close();
        }
      },
    ),
    { seed: 11, numRuns: runs(300) },
  );
});

function change(cwd: string, changed: string | null, how: string): void {
  if (changed === null) return;
  const path = changed === '.' ? cwd : join(cwd, changed);
  if (changed === 'unrelated') writeFileSync(path, 'x');
  else if (changed === '.' || changed === 'lib') {
    renameSync(path, `${path}.old`);
    if (how === 'a link elsewhere') symlinkSync('/etc', path);
    else mkdirSync(path);
  } else CHANGES[how]?.(path);
}

test('a pin reads cd without words as the home', async () => {
  const base = tempFolder();
  mkdirSync(join(base, 'home'));
  const command = await parseCommand(['bash', '-lc', 'cd && ./run.sh']);
  const pin = await CommandPin.take(
    { command, cwd: base, env: { ...ENV, HOME: join(base, 'home') } },
    [base],
  );
  await pin.close();
  expect(pin.identity).not.toBeNull();
  writeFileSync(join(base, 'home', 'run.sh'), '');
  expect(await pin.changed()).toBe(join(base, 'home', 'run.sh'));
});

test.each([
  ['make', 60, true],
  ['make', 70, false],
  ['git status', 70, false],
  ['./run.sh', 70, true],
])(
  'a pin of %s in a folder of about %d levels is recognized again: %j',
  async (script, levels, isKnown) => {
    const base = tempFolder();
    const cwd = join(base, ...Array.from({ length: levels - base.split('/').length }, () => 'd'));
    mkdirSync(cwd, { recursive: true });
    const pin = await CommandPin.take(
      { command: await parseCommand(['bash', '-lc', script]), cwd, env: ENV },
      [base],
    );
    await pin.close();
    expect(pin.identity !== null).toBe(isKnown);
  },
);

test('a pin knows the folder above the one that a link leads to', async () => {
  const base = tempFolder();
  for (const folder of ['links', 'real/x']) mkdirSync(join(base, folder), { recursive: true });
  symlinkSync(join(base, 'real', 'x'), join(base, 'links', 'x'));
  const command = await parseCommand(['bash', '-lc', 'cd .. && ./run.sh']);
  const cwd = join(base, 'links', 'x');
  const pin = await CommandPin.take({ command, cwd, env: ENV }, [join(base, 'real')]);
  await pin.close();
  writeFileSync(join(base, 'real', 'run.sh'), '');
  expect(await pin.changed()).toBe(join(base, 'real', 'run.sh'));
});

/**
 * Writes to a file through memory, so that its time of change is an old one. Writes again after a
 * line of input.
 */
const MAPPED = `
import mmap, sys
file = open(sys.argv[1], 'r+b')
memory = mmap.mmap(file.fileno(), 0)
memory[0:1] = b'#'
print('written', flush=True)
sys.stdin.readline()
memory[0:4] = b'rm a'
print('again', flush=True)
sys.stdin.readline()
`;

test('a change through memory is noticed, although the time of change stays the same', async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, 'x.sh'), 'exit 0\n');
  const writer = spawn('python3', ['-c', MAPPED, join(cwd, 'x.sh')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(writer.stdout, 'data');
  const command = await parseCommand(['bash', '-c', 'sh x.sh']);
  const pin = await CommandPin.take({ command, cwd, env: ENV }, [cwd]);
  expect(await pin.changed()).toBeNull();
  writer.stdin.write('\n');
  await once(writer.stdout, 'data');
  expect(await pin.changed()).toBe(join(cwd, 'x.sh'));
  await pin.close();
  writer.stdin.end();
  await once(writer, 'close');
});

test('files without a change stay the same, however many there are', { tags: 'slow' }, async () => {
  const cwd = tempFolder();
  const names = Array.from(
    { length: 100 },
    (_, index) => `${String((index * 37) % 100).padStart(2, '0')}.sh`,
  );
  for (const [index, name] of names.entries()) {
    // Links take longer to follow, and several lead to one file.
    if (index % 5 === 4) symlinkSync(names[index - (index % 3) - 1] ?? '', join(cwd, name));
    else writeFileSync(join(cwd, name), `echo ${index}\n`);
  }
  const command = await parseCommand(['bash', '-c', names.map((name) => `sh ${name}`).join('; ')]);
  const identity = await commandIdentity({ command, cwd, env: ENV });
  expect(identity).not.toBeNull();
  // The states of files with a hash have a fifth part. Device and inode tell files apart.
  const hashed = [...(identity ?? new Map<string, string>()).values()]
    .map((state) => state.split(':'))
    .filter(({ length }) => length === 5);
  expect(new Set(hashed.map(([device, inode]) => `${device}:${inode}`)).size).toBe(64);
  for (let count = 0; count < 50; count++)
    expect(await commandIdentity({ command, cwd, env: ENV })).toEqual(identity);
  appendFileSync(join(cwd, names[0] ?? ''), '#');
  expect(await commandIdentity({ command, cwd, env: ENV })).not.toEqual(identity);
});

describe('a pin of a git command', () => {
  const CONFIG =
    '[core]\n\thooksPath = .husky\n[include]\n\tpath = ../more\n[filter "x"]\n\tclean = sh tools/clean.sh\n';
  const HOME_CONFIG = '[core]\n\thooksPath = ~/hooks\n[includeIf "gitdir:/"]\n\tpath = included\n';

  /** A repository `work` with settings in several files, and a home beside it. */
  function repository() {
    const base = tempFolder();
    const files = {
      'work/.git/config': CONFIG,
      'work/.husky/pre-commit': 'true',
      'work/more': '[user]\n\tname = Ada\n',
      'work/tools/clean.sh': 'cat',
      'work/src/file': '',
      'home/.gitconfig': HOME_CONFIG,
      'home/included': '',
      'home/hooks/pre-push': 'true',
    };
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(base, path)), { recursive: true });
      writeFileSync(join(base, path), content);
    }
    const path = (...names: string[]) => join(base, ...names);
    const pin = async (cwd = path('work', 'src')) => {
      const command = await parseCommand(['bash', '-lc', 'git commit -qm x']);
      return CommandPin.take({ command, cwd, env: { ...ENV, HOME: path('home') } }, [path('work')]);
    };
    return { path, pin };
  }

  test.each([
    'work/.husky/pre-commit',
    'work/.husky/commit-msg',
    'work/more',
    'work/tools/clean.sh',
    'work/.git/config.worktree',
    'work/src/HEAD',
    'home/.gitconfig',
    'home/included',
    'home/hooks/pre-push',
    'home/hooks/post-commit',
  ])('notices a change of %s', async (changed) => {
    const { path, pin } = repository();
    const taken = await pin();
    try {
      expect(await taken.changed()).toBeNull();
      appendFileSync(path(changed), '\n');
      expect(await taken.changed()).not.toBeNull();
    } finally {
      await taken.close();
    }
  });

  test.each<[string, (path: (...names: string[]) => string) => void]>([
    [
      'there are too many hooks',
      (path) => {
        for (const n of range(1001)) writeFileSync(path('work', '.husky', `h${n}`), '');
      },
    ],
    [
      'the hooks cannot be listed',
      (path) =>
        writeFileSync(path('work', '.git', 'config'), `[core]\n\thooksPath = ${'x'.repeat(300)}\n`),
    ],
    ['settings are not understood', (path) => writeFileSync(path('work', 'more'), '[core\nx')],
    [
      'settings are too large',
      (path) => writeFileSync(path('home', '.gitconfig'), `#${'x'.repeat(2 ** 20)}\n`),
    ],
    [
      'settings are no file',
      (path) => mkdirSync(path('home', '.config', 'git', 'config'), { recursive: true }),
    ],
    [
      'settings include too many files',
      (path) =>
        writeFileSync(
          path('work', 'more'),
          range(40)
            .map((n) => `[include]\npath = f${n}\n`)
            .join(''),
        ),
    ],
    [
      'the hooks are in the home of another user',
      (path) => appendFileSync(path('work', 'more'), '[core]\n\thooksPath = ~root/hooks\n'),
    ],
    [
      'the repository is that of another folder',
      (path) => {
        renameSync(path('work', '.git'), path('work', 'git'));
        symlinkSync('git', path('work', '.git'));
      },
    ],
  ])('cannot be recognized again if %s', async (_why, make) => {
    const { path, pin } = repository();
    make(path);
    const taken = await pin();
    await taken.close();
    expect(taken.identity).toBeNull();
  });
});

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
