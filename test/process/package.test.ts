// @module-tag slow
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { neutralEnvironment } from './support.ts';

const root = join(import.meta.dirname, '..', '..');
const EXAMPLES = ['client.ts', 'approval-dialog.ts', 'one-off.ts'];
const TEST_EXAMPLE = 'scripted.test.ts';
const MS_MAX = 60_000;
/**
 * As strict as a project can be, and it reads the package's own declarations with the same eyes. It
 * asks for no types itself.
 */
const TSCONFIG = {
  compilerOptions: {
    target: 'es2022',
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
    types: [],
  },
};

/**
 * An empty project that has the package installed, and nothing beside it but what runs TypeScript.
 */
let project: string;
let installed: string;

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'heddle-package-'));
  installed = join(project, 'node_modules', 'heddle');
  execFileSync(process.execPath, ['bin/build-types.js'], { cwd: root, stdio: 'inherit' });
  const name = execFileSync(
    'npm',
    ['pack', '--ignore-scripts', '--silent', '--pack-destination', project],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', [
    '-xzf',
    join(project, name.trim()),
    '-C',
    installed,
    '--strip-components=1',
  ]);
  link('node_modules', join(installed, 'node_modules'));
  for (const tool of ['tsx', 'vitest', '@types/node'])
    link(join('node_modules', tool), join(project, 'node_modules', tool));
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  // The declarations of vitest are not made for settings as strict as these.
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ ...TSCONFIG, files: EXAMPLES }));
  for (const example of [...EXAMPLES, TEST_EXAMPLE])
    copyFileSync(join(installed, 'examples', example), join(project, example));
}, MS_MAX);

afterAll(() => rmSync(project, { recursive: true }));

function link(path: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  symlinkSync(join(root, path), to);
}

/** The environment of whoever has no key for a model, with a home of its own. */
function environment(): NodeJS.ProcessEnv {
  const others = neutralEnvironment();
  return { ...others, HEDDLE_HOME: join(project, 'home') };
}

function run(args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: project,
    env: environment(),
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test('the npm package has all that the server needs to start a thread', () => {
  const requests = [
    { id: 1, method: 'initialize', params: { clientInfo: { name: 'test', version: '1.0.0' } } },
    { id: 2, method: 'thread/start', params: {} },
  ];
  const output = execFileSync(
    process.execPath,
    [join(installed, 'bin', 'heddle.js'), 'app-server'],
    {
      cwd: project,
      encoding: 'utf8',
      env: environment(),
      input: requests.map((request) => `${JSON.stringify(request)}\n`).join(''),
    },
  );
  const messages = output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { id?: number; result?: unknown });
  expect(
    messages
      .filter(({ id, result }) => id !== undefined && result !== undefined)
      .map(({ id }) => id),
  ).toEqual([1, 2]);
});

test.each([
  ['generate-json-schema', 'v2/ThreadStartParams.json'],
  ['generate-ts', 'v2/ThreadStartParams.ts'],
])('the npm package has all that %s needs', (command, file) => {
  expect(run([join(installed, 'bin', 'heddle.js'), command, '--out', command])).toMatchObject({
    status: 0,
  });
  expect(existsSync(join(project, command, file))).toBe(true);
});

test('the npm package has the grammar of bash with its licence, and does not depend on the package of the grammar', () => {
  for (const name of ['tree-sitter-bash.wasm', 'tree-sitter-bash.LICENSE'])
    expect(existsSync(join(installed, 'dist', name))).toBe(true);
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  expect(Object.keys(dependencies)).not.toContain('tree-sitter-bash');
});

test('the declarations need no types of other packages', () => {
  const types = join(installed, 'dist', 'types');
  const files = readdirSync(types, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.d.ts'),
  );
  const specifiers = files.flatMap((name) =>
    [...readFileSync(join(types, name), 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(
      ([, one]) => one,
    ),
  );
  expect(specifiers.length).toBeGreaterThan(10);
  expect(
    specifiers.filter((specifier) => !/^(\.{1,2}\/.*\.js|node:\w+)$/.test(specifier ?? '')),
  ).toEqual([]);
});

test('whatever the package refers to is in it', () => {
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !name.startsWith('node_modules'),
  );
  const pages = files.filter((name) => name.endsWith('.md'));
  const links = pages.flatMap((page) =>
    [...readFileSync(join(installed, page), 'utf8').matchAll(/\]\((?!https?:)([^)#]+)/g)].map(
      ([, link]) => ({ page, link: link ?? '' }),
    ),
  );
  expect(links.length).toBeGreaterThan(5);
  const pictures = pages.flatMap((page) =>
    [
      ...readFileSync(join(installed, page), 'utf8').matchAll(
        /\b(?:src|srcset)="(?!https?:)([^"]+)"/g,
      ),
    ].map(([, link]) => ({
      page,
      link: link ?? '',
    })),
  );
  expect(pictures.map(({ link }) => link)).toEqual([
    'docs/pictures/demo-dark.svg',
    'docs/pictures/demo-light.svg',
  ]);
  expect(
    [...links, ...pictures].filter(
      ({ page, link }) => !existsSync(join(installed, dirname(page), link)),
    ),
  ).toEqual([]);
  // The sources that they map to are not there.
  expect(files.filter((name) => name.endsWith('.map'))).toEqual([]);
});

test('CommonJS can have it, too', () => {
  const { status, stdout } = run([
    '--input-type=commonjs',
    '-e',
    "console.log(Object.keys({ ...require('heddle'), ...require('heddle/client') }))",
  ]);
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: expect.stringContaining("'createAppServer'"),
  });
});

describe('the examples, pasted into an empty project:', { timeout: MS_MAX }, () => {
  test('the compiler finds nothing to say', () => {
    const { status, stdout } = run([
      join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
      '-p',
      '.',
    ]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  });

  test('the client shows an answer, and has at most 50 lines', () => {
    const { status, stdout, stderr } = run([
      '--import',
      'tsx',
      'client.ts',
      'think A greeting.\nsay Good evening.',
    ]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'Good evening.\n' });
    expect(stderr).toMatch(
      /^heddle \d+\.\d+\.\d+\nthread [\da-f-]{36}, model embedded\nturn completed\n$/,
    );
    expect(readFileSync(join(project, 'client.ts'), 'utf8').split('\n').length).toBeLessThanOrEqual(
      51,
    );
  });

  test('the client tells of a turn that fails', () => {
    const { status, stdout, stderr } = run(['--import', 'tsx', 'client.ts', 'fail server_error']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/turn failed\n$/);
  });

  test('the approval dialog asks for each approval, and no longer than it is awaited', async () => {
    const asking = join(root, 'test', 'process', 'asking-server.js');
    const args = ['--import', 'tsx', 'approval-dialog.ts', 'Tidy up.', process.execPath, asking];
    const dialog = spawn(process.execPath, args, {
      cwd: project,
      env: environment(),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const keys = ['a\n', 'x\n', 'y\n'];
    let shown = '';
    dialog.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
      if (text.includes('[c]ancel the turn: ') && keys.length > 0)
        dialog.stdin.write(keys.shift() ?? '');
    });
    const [code] = await once(dialog, 'close');
    expect({ code, shown: shown.replace(/\r?\n+/g, '\n') }).toEqual({ code: 0, shown: SHOWN });
  });

  test('the one-off prints one answer, and what failed', () => {
    const asked = (question: string) => run(['--import', 'tsx', 'one-off.ts', question]);
    expect(asked('think It is late.\nsay Good night.')).toEqual({
      status: 0,
      stdout: 'Good night.\n',
      stderr: '',
    });
    expect(asked('fail server_error')).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/\S\n$/),
    });
  });

  test('the scripted tests pass', () => {
    const { status, stdout } = vitest(TEST_EXAMPLE);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringMatching(/Tests +4 passed \(4\)/),
    });
  });

  test('the scripted tests fail where their script is not followed', () => {
    const text = readFileSync(join(project, TEST_EXAMPLE), 'utf8');
    writeFileSync(
      join(project, 'left-over.test.ts'),
      text.replace('- error: usageLimitExceeded', '$&\\n- Never asked for.'),
    );
    const { status, stdout } = vitest('left-over.test.ts');
    expect({ status, stdout }).toEqual({
      status: 1,
      stdout: expect.stringMatching(/Tests +1 failed \| 3 passed \(4\)/),
    });
    expect(stdout).toContain('1 response not used');
  });
});

/** Runs a test file with vitest, without colours. */
function vitest(file: string) {
  const args = [
    join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    file,
    '--reporter=default',
  ];
  const env = { ...environment(), NO_COLOR: '1', VITEST: undefined, NODE_ENV: undefined };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: project,
    env,
    encoding: 'utf8',
  });
  return { status, stdout: `${stdout}${stderr}` };
}

const SHOWN = `Runs outside the sandbox.
  /project$ npm test
[y]es, [a]lways, [n]o, [c]ancel the turn: The agent wants to change files.
  add /project/a.txt
[y]es, [a]lways, [n]o, [c]ancel the turn: The agent wants to change files.
  add /project/a.txt
[y]es, [a]lways, [n]o, [c]ancel the turn: The agent wants to run a command.
  /project$ make
[y]es, [a]lways, [n]o, [c]ancel the turn: 
(no answer is needed any more)
accept, accept, resolved
turn completed
`;
