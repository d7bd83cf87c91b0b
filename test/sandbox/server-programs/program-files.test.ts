import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { programFiles } from '../../../src/sandbox/server-programs/program-files.ts';
import { programLine } from '../../../src/sandbox/server-programs/program-line.ts';
import { tempFolder } from '../../config/temp-folder.ts';

const FILES = {
  'work/tools/x.sh': '',
  'work/tools/run': '#!/usr/bin/env -S tool --fast\n',
  'work/tools/deep/y.py': '',
  'work/my tools/z.sh': '',
  'work/plain': '',
  'work/app/server.dll': '',
  'work/app/plugin.so': '',
  'work/data.json': '{}',
  'work/tsconfig.json': '{}',
  'work/server/package.json': '{"main": "lib/main.js"}',
  'work/server/lib/main.js': '',
  'work/package/__init__.py': '',
  'work/package/sub.py': '',
  'work/.venv/pyvenv.cfg': '',
  'work/.venv/bin/tool': '#!/bin/sh\n',
  'work/node_modules/one/cli.js': '#!/bin/sh\n',
  'work/early/x': '',
  'user/bin/tool': '#!/bin/sh\n',
};
const RUNNABLE = [
  'work/tools/run',
  'work/.venv/bin/tool',
  'work/node_modules/one/cli.js',
  'user/bin/tool',
];

function world() {
  const folder = tempFolder(FILES);
  for (const path of RUNNABLE) chmodSync(join(folder, path), 0o755);
  mkdirSync(join(folder, 'work/node_modules/.bin'));
  symlinkSync('../one/cli.js', join(folder, 'work/node_modules/.bin/one'));
  const work = join(folder, 'work');
  const env = {
    HOME: join(folder, 'user'),
    PATH: `${work}/early:${folder}/user/bin`,
    TOOLS: `${work}/tools`,
  };
  /**
   * The files in the folder that a program runs, by their paths in it. Those that are only watched
   * have a `?` behind them.
   */
  const filesOf = async (argv: readonly string[]) => {
    const program = { of: 'a test', argv, cwd: work, env, kind: 'configured' as const };
    const found = programFiles(program, await programLine(program));
    return found
      .filter(({ path }) => path.startsWith(`${folder}/`))
      .map(
        ({ path, ifAbsent }) =>
          `${path.slice(folder.length + 1)}${ifAbsent === 'watch' ? '?' : ''}`,
      )
      .sort();
  };
  return { filesOf, ofLine: (line: string) => filesOf(['/bin/sh', '-c', line]) };
}

/** What is found for the name of a program that is not installed. */
const missing = (name: string) => [`user/bin/${name}`, `work/early/${name}`];
const X = 'work/tools/x.sh';
const TOOL = ['user/bin/tool', 'work/early/tool'];
const SHELL = missing('sh');

test.each<[line: string, files: string[]]>([
  // The program.
  ['tool', TOOL],
  ['tool | tool', TOOL],
  ['./tools/run a b', ['work/tools/run', ...TOOL]],
  ['tools/absent', ['work/tools/absent']],
  ['absent-program', missing('absent-program')],
  ['~/bin/tool', ['user/bin/tool']],
  ['"$HOME"/bin/tool', ['user/bin/tool']],
  ['$TOOLS/x.sh', [X]],
  [`"$${'{TOOLS}'}/x.sh"`, [X]],
  ['"$(git rev-parse --show-toplevel)/tools/x.sh"', [...missing('git'), X]],
  ['cd tools && ./x.sh', ['work/tools/x.sh', 'work/x.sh']],
  // Of a tool of the project, only the program, if it is installed.
  ['node_modules/.bin/one --fix .', ['work/node_modules/.bin/one']],
  ['node node_modules/.bin/one', [...missing('node'), 'work/node_modules/.bin/one']],
  ['.venv/bin/tool check .', ['work/.venv/bin/tool']],
  ['node_modules/.bin/absent', []],
  ['.venv/bin/absent', []],
  // The PATH that the line sets.
  ['PATH=./tools:$PATH run', ['work/tools/run', 'work/tools/tool', ...missing('run'), ...TOOL]],
  [
    'export PATH="$PWD/tools:$PATH"; run',
    ['work/tools/run', 'work/tools/tool', ...missing('run'), ...TOOL],
  ],
  [
    'env A=1 PATH=tools run',
    ['work/tools/run', 'work/tools/tool', 'work/tools/env', ...missing('env'), ...missing('run')],
  ],
  [
    'PATH="$(git rev-parse --show-toplevel)/tools:$PATH"; run',
    [
      'work/tools/git',
      'work/tools/run',
      'work/tools/tool',
      ...missing('git'),
      ...missing('run'),
      ...TOOL,
    ],
  ],
  ['PATH=$PATH:$PWD/tools; tool', TOOL],
  [
    'R=$(pwd); PATH="$R/tools:$PATH"; run',
    ['work/tools/run', 'work/tools/tool', ...missing('run'), ...TOOL],
  ],
  [
    `PATH="tools$${'{PATH:+:$PATH}'}" run`,
    ['work/tools/run', 'work/tools/tool', ...missing('run'), ...TOOL],
  ],
  [
    `PATH=$${'{UNSET}'}/tools:~/bin run`,
    ['work/tools/run', 'work/tools/tool', 'user/bin/tool', ...missing('run')],
  ],
  // An empty entry is the working directory.
  ...['$UNSET:$PATH', `$${'{UNSET:-}'}:$PATH`, ':$PATH', '"":$PATH'].map(
    (value): [string, string[]] => [`PATH=${value} tool`, ['work/tool', ...TOOL]],
  ),
  ['PATH+=:tools; run', ['work/tools/run', ...missing('run'), ...TOOL]],
  [
    "bash -c 'PATH=tools:$PATH run'",
    [
      'work/tools/bash',
      'work/tools/run',
      'work/tools/tool',
      ...missing('bash'),
      ...missing('run'),
      ...TOOL,
    ],
  ],
  ['PATH=node_modules/.bin:$PATH one', ['work/node_modules/.bin/one', ...missing('one')]],
  ['PATH=node_modules/.bin:.venv/bin:$PATH absent-program', missing('absent-program')],
  ['PATH=node_modules/.bin:$PATH tool', ['work/node_modules/.bin/tool?', ...TOOL]],
  // Its script, which need not exist.
  ['sh tools/x.sh', [...SHELL, X]],
  ['sh -eu tools/x.sh one', [...SHELL, X]],
  ["sh 'my tools/z.sh'", [...SHELL, 'work/my tools/z.sh']],
  ['. ./tools/x.sh', [X]],
  ['sh < tools/x.sh', [...SHELL, X]],
  ['python3 tools/absent.py data.json', [...missing('python3'), 'work/tools/absent.py']],
  ['python3 -u plain data.json', [...missing('python3'), 'work/data.json', 'work/plain']],
  ['awk -f plain data.json', [...missing('awk'), 'work/data.json', 'work/plain']],
  [
    'python3 -m package.sub',
    [...missing('python3'), 'work/package/__init__.py', 'work/package/sub', 'work/package/sub.py'],
  ],
  ['python3 -m absent.sub', [...missing('python3'), 'work/absent', 'work/absent.py']],
  [
    'node server',
    [
      ...missing('node'),
      'work/server/index.js',
      'work/server/lib/main.js',
      'work/server/package.json',
    ],
  ],
  ['node tools/absent', [...missing('node'), 'work/tools/absent', 'work/tools/absent.js']],
  [
    'node --require=./tools/absent.cjs server/lib/main.js',
    [...missing('node'), 'work/server/lib/main.js', 'work/tools/absent.cjs'],
  ],
  ['uv run --directory tools/deep y.py', [...missing('uv'), 'work/tools/deep/y.py', 'work/y.py']],
  ['npx tsx tools/absent.ts', [...missing('npx'), 'work/tools/absent.ts']],
  ['uv run --with data.json plain data.json', [...missing('uv'), 'work/data.json', 'work/plain']],
  ['deno run plain data.json', [...missing('deno'), 'work/plain']],
  ['npx one -p data.json', missing('npx')],
  // In a folder that the line names by a variable, or enters.
  ['D=tools; sh "$D/x.sh"', [...SHELL, X]],
  [`D=$HOME/bin E='x'; $${'{D}'}/tool; cat $E`, ['user/bin/tool', ...missing('cat')]],
  ['export D=tools\nsh "$D"/x.sh', [...SHELL, X]],
  ['D=tools; D=lib; sh "$D/x.sh"', [...SHELL, 'work/x.sh']],
  ['D=tools; read -r D; sh "$D/x.sh"', [...SHELL, 'work/x.sh']],
  ['for D in $TOOLS; do sh "$TOOLS/x.sh"; done', [...SHELL, X]],
  ['TOOLS=tools/deep; uv run "$TOOLS/y.py"', [...missing('uv'), 'work/tools/deep/y.py']],
  ['D=$(pwd)/tools; "$D/x.sh"', [X]],
  ['D="$(git rev-parse --show-toplevel)"; sh $D/tools/x.sh', [...missing('git'), ...SHELL, X]],
  [`sh "$${'{UNSET:-tools}'}/x.sh"`, [...SHELL, X]],
  [`sh "$${'{TOOLS:-lib}'}/x.sh"`, [...SHELL, X]],
  // Named anywhere in a line with words that only the shell knows.
  ['for s in tools/x.sh tools/absent.sh data.json; do sh $s; done', [...SHELL, X]],
  ['sh $(dirname tools/x.sh)/x.sh', [...missing('dirname'), ...SHELL, 'work/x.sh', X]],
  ['tsc -p tsconfig.json "$UNSET"', missing('tsc')],
  ['pushd tools; ./run', ['work/run', 'work/tools/run', ...TOOL]],
  // Other files that an argument names, if they exist and may be scripts.
  [
    'tool --config=tools/deep/y.py --run tools/run plain data.json -p=data.json',
    [...TOOL, 'work/tools/deep/y.py', 'work/tools/run'],
  ],
  // What is only looked at or written, and what is no file.
  ['cat data.json', missing('cat')],
  ['tool > data.json', TOOL],
  ['node -e "1/2" a/b', missing('node')],
  ['perl -pe s/a/b/ -', missing('perl')],
  ['tool https://example.com/x.js tools', TOOL],
  // Lines with more.
  ['if true; then sh tools/x.sh; fi', [...SHELL, X]],
  [
    '(cd /; env A=1 timeout 5s sh "$TOOLS"/x.sh) 2>&1 | tool || exit 2',
    [...SHELL, ...missing('env'), ...missing('timeout'), ...TOOL, X],
  ],
  // What is not understood may run every file that it names.
  [`${'a=$((1)); '.repeat(3000)}; sh tools/x.sh`, ['work/tools/x.sh']],
  ['bash -c "sh tools/x.sh"', [...missing('bash'), ...SHELL, X]],
])('of the line %j', async (line, files) => {
  expect(await world().ofLine(line)).toEqual([...new Set(files)].sort());
});

test('of an MCP server in the project: its whole package or environment', async () => {
  const { filesOf } = world();
  expect(await filesOf(['node_modules/.bin/one'])).toEqual([
    'work/node_modules/.bin/one',
    'work/node_modules/one?',
  ]);
  expect(await filesOf(['.venv/bin/tool'])).toEqual(['work/.venv/bin/tool', 'work/.venv?'].sort());
  expect(await filesOf(['env', 'PATH=tools', 'run'])).toContain('work/tools/run');
});

test('of an MCP server that is compiled for a runtime, with a plugin', async () => {
  const { filesOf } = world();
  const argv = ['dotnet', 'app/server.dll', '--plugin', 'app/plugin.so', 'data.json'];
  expect(await filesOf(argv)).toEqual(
    [...missing('dotnet'), 'work/app/plugin.so', 'work/app/server.dll'].sort(),
  );
});

test('of an MCP server that a package runner starts: packages of the project are watched', async () => {
  const { filesOf } = world();
  const found = await filesOf(['tool', '-y', '@example/docs']);
  expect(found).toEqual([...TOOL].sort());
  expect(await filesOf(['npx', '-y', '@example/docs@1'])).toEqual(
    [...missing('npx'), '.npmrc?', 'node_modules/@example/docs?', 'node_modules/.bin/docs?']
      .concat(['work/.npmrc?', 'work/node_modules/@example/docs?', 'work/node_modules/.bin/docs?'])
      .sort(),
  );
});

/** A line that runs another one somewhere in it. */
const WRAPS: readonly ((line: string) => string)[] = [
  (line) => `true && ${line}`,
  (line) => `${line} | tool`,
  (line) => `cat data.json | ${line}`,
  (line) => `( ${line} )`,
  (line) => `{ ${line}; }`,
  (line) => `if [ -f a ]; then ${line}; else exit 2; fi`,
  (line) => `for i in 1 2; do ${line}; done`,
  (line) => `out=$( ${line} ); echo "$out"`,
  (line) => `${line} > out.txt 2>&1`,
  (line) => `A=1 B="$HOME" ${line}`,
  (line) => `# check\n${line}\n`,
  (line) => (line.includes("'") ? line : `bash -c '${line}'`),
  (line) => (/^[a-z]/.test(line) && !/^(?:if|for|out)\b/.test(line) ? `env A=1 ${line}` : line),
  (line) => `${line} || true`,
];

test('of a script that is run anywhere in a line, whether it exists or not', async () => {
  const { ofLine } = world();
  const lines = fc.record({
    script: fc.constantFrom(
      'tools/x.sh',
      'tools/absent.sh',
      'absent/er/x.sh',
      '"$TOOLS/x.sh"',
      '"my tools/z.sh"',
    ),
    program: fc.constantFrom('sh ', 'python3 -u ', 'node ', '. ', './'),
    wraps: fc.array(fc.constantFrom(...WRAPS), { maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(lines, async ({ script, program, wraps }) => {
      const isQuoted = script.startsWith('"');
      const inner = program === './' && isQuoted ? script : `${program}${script}`;
      const line = wraps.reduce((all, wrap) => wrap(all), inner);
      const path = script.replace(/"/g, '').replace('$TOOLS', 'tools');
      expect(await ofLine(line), line).toContain(`work/${path}`);
    }),
    { seed: 1, numRuns: 150 },
  );
});
