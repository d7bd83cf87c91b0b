// @module-tag slow
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const SOURCES = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'src',
  'schema',
  'migrations',
];

function runNode(
  script: string,
  cwd: string,
): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
    cwd,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'heddle-setup-'));
  cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Makes a clone of it that can be built. */
function makeClone(): void {
  for (const name of SOURCES) cpSync(join(root, name), join(folder, name), { recursive: true });
  linkPackages([]);
}

/** Gives it the packages of the project, but for those that are left out. */
function linkPackages(leftOut: string[]): void {
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(join(root, 'node_modules')).filter(
    (one) => !leftOut.includes(one),
  ))
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
}

/** A folder for the PATH, with these commands, which do nothing. */
function commandsFolder(idle: string[]): string {
  const commands = join(folder, 'commands');
  mkdirSync(commands);
  for (const name of idle) writeFileSync(join(commands, name), '', { mode: 0o755 });
  return commands;
}

test('heddle without a build says how to make one', () => {
  expect(runNode('bin/heddle.js', folder)).toEqual({
    status: 1,
    stdout: '',
    stderr: `heddle: ${join(folder, 'dist', 'heddle.cjs')} is missing: run 'npm run build'\n`,
  });
});

test('the setup builds what is not built, and the second time says and does nothing', () => {
  makeClone();
  const { status, stdout, stderr } = runNode('bin/setup.js', folder);
  expect({ status, stdout, first: stderr.split('\n')[0] }).toEqual({
    status: 0,
    stdout: '',
    first: 'setup: building dist/heddle.cjs',
  });
  expect(runNode('bin/setup.js', folder)).toEqual({ status: 0, stdout: '', stderr: '' });
  const cached = readdirSync(join(folder, 'dist')).filter((name) => name.endsWith('.cache'));
  expect(
    cached.map((name) => name.split('.cjs')[0]).sort(),
    'scripts that a turn uses, with their compiled code',
  ).toEqual([
    'heddle',
    'late',
    'shared',
    'store.worker',
    'validate-params',
    'validate-provided-item',
  ]);
});

test.runIf(process.platform === 'linux')(
  'a setup that cannot bring bubblewrap says what to run, once, and does the rest',
  () => {
    makeClone();
    const PATH = commandsFolder(['git']);
    writeFileSync(join(PATH, 'bwrap'), 'cannot be run');
    const run = () =>
      spawnSync(process.execPath, ['bin/setup.js'], {
        cwd: folder,
        encoding: 'utf8',
        env: { PATH },
      });
    const first = run();
    expect(first.status).toBe(0);
    const said = first.stderr.split('\n').filter((line) => !/ so far$|: ended after /.test(line));
    expect(said.join('\n')).toMatch(
      /^(setup: installing bubblewrap with apt-get\n)?setup: .*bubblewrap.*\. heddle refuses sandboxed commands until it is installed; run: .*bubblewrap\nsetup: building dist\/heddle\.cjs\n$/,
    );
    expect(run()).toMatchObject({ status: 0, stdout: '', stderr: '' });
  },
);

describe('better-sqlite3', () => {
  const ofRoot = join(root, 'node_modules', 'better-sqlite3');
  const binary = join('build', 'Release', 'better_sqlite3.node');

  /**
   * A server in place of the releases on GitHub. Returns its URL and the paths that were asked for.
   */
  async function releases(answer: RequestListener): Promise<{ url: string; asked: string[] }> {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      answer(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
  }

  /**
   * Runs the setup where better-sqlite3 has no binary yet. Those who compile, apt-get and npm are
   * not in the PATH.
   */
  async function setUp(url: string) {
    for (const name of [...SOURCES, 'dist']) symlinkSync(join(root, name), join(folder, name));
    linkPackages(['better-sqlite3', '.heddle-setup']);
    const installed = join(folder, 'node_modules', 'better-sqlite3');
    cpSync(ofRoot, installed, {
      recursive: true,
      filter: (path) =>
        !path.startsWith(join(ofRoot, 'build')) && !path.startsWith(join(ofRoot, 'deps')),
    });
    const PATH = commandsFolder(['git', 'bwrap']);
    const env = {
      PATH,
      HOME: folder,
      npm_config_cache: join(folder, 'cache'),
      npm_config_better_sqlite3_binary_host: url,
    };
    const child = spawn(process.execPath, ['bin/setup.js'], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    const said = stderr.split('\n').filter((line) => !/ so far$|: ended after /.test(line));
    return {
      status: status as number | null,
      stdout,
      said,
      loads: existsSync(join(installed, binary)),
    };
  }

  const LOOKING = `setup: looking for a prebuilt better-sqlite3 for Node ${process.versions.node}`;
  const { version } = JSON.parse(readFileSync(join(ofRoot, 'package.json'), 'utf8')) as {
    version: string;
  };
  const path = `/v${version}/better-sqlite3-v${version}-node-v${process.versions.modules}-${process.platform}-${process.arch}.tar.gz`;

  test('is taken prebuilt if it is to be had', async () => {
    const archive = spawnSync('tar', ['-cz', '-C', ofRoot, binary], {
      maxBuffer: 64 * 1024 * 1024,
    }).stdout;
    const { url, asked } = await releases((_request, response) => response.end(archive));
    expect(await setUp(url)).toEqual({ status: 0, stdout: '', said: [LOOKING, ''], loads: true });
    expect(asked.map((one) => one.replace('-linuxmusl-', '-linux-'))).toEqual([path]);
  });

  const broken = spawnSync('tar', [
    '-cz',
    '-C',
    dirname(import.meta.dirname),
    'process/build.ts',
  ]).stdout;

  test.each<[string, RequestListener, RegExp]>([
    [
      'is not there',
      (_request, response) => response.writeHead(404).end(),
      /No prebuilt binaries found/,
    ],
    ['breaks off', ({ socket }) => socket.destroy(), /socket hang up|ECONNRESET/],
    ['is none', (_request, response) => response.end('text'), /incorrect header check/],
    ['is something else', (_request, response) => response.end(broken), /this Node cannot load it/],
  ])(
    'is compiled if the prebuilt one %s, which says why, and what lacks for it',
    async (_name, answer, why) => {
      const { url } = await releases(answer);
      const { status, said, loads } = await setUp(url);
      expect({ status, loads }).toEqual({ status: 1, loads: false });
      const [looking, reason, ...rest] = said;
      expect(looking).toBe(LOOKING);
      expect(reason).toMatch(
        new RegExp(`^setup: no prebuilt better-sqlite3 can be used: .*(?:${why.source})`),
      );
      expect(rest.at(-2)).toMatch(
        /^setup: .*python3 make g\+\+.*\. Run: .*python3 make g\+\+; then run the same command again$/,
      );
    },
  );
});
