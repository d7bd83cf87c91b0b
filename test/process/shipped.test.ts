// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeFiles } from '../config/temp-folder.ts';
import { exampleServer } from '../mcp/mcp-thread.ts';
import { environment, type HeddleProcess, type Place, place, startHeddle } from './support.ts';

const root = join(import.meta.dirname, '..', '..');
const BUILD_FOLDER = '/build/';
const MS_MAX = 60_000;

/** The model is the embedded one. Commands have a managed network in which one host is denied. */
const CONFIG = `model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "workspace-write"
[sandbox_workspace_write]
network_access = true
[features.network_proxy.domains]
"denied.example.com" = "deny"
${exampleServer()}`;

/** Asks the proxy of a command for the denied host, and prints the status of the response. */
const FETCH_DENIED = `
const { hostname, port } = new URL(process.env.HTTP_PROXY);
require('node:http').get({ hostname, port, path: 'http://denied.example.com/' }, ({ statusCode }) => console.log('status', statusCode));
`;

/**
 * What is shipped, in empty folders: what the last stage of the Dockerfile copies, and what npm
 * packs.
 */
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'heddle-shipped-'));
  layOutImage(join(folder, 'image'));
  layOutPackage(join(folder, 'package'));
}, MS_MAX);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Does what the COPY lines of the Dockerfile's last stage do. */
function layOutImage(target: string): void {
  const lastStage =
    readFileSync(join(root, 'Dockerfile'), 'utf8')
      .split(/^FROM /m)
      .at(-1) ?? '';
  const lines = [...lastStage.matchAll(/^COPY (.*)$/gm)].map(([, words = '']) => words.split(' '));
  expect(lines.length).toBeGreaterThan(0);
  for (const [from, ...words] of lines) {
    expect(from).toBe('--from=build');
    const to = words.pop() ?? '';
    for (const source of words.flatMap(inBuildFolder)) {
      if (source === join(root, 'node_modules')) layOutPackages(join(target, to));
      else
        cpSync(source, join(target, to, statSync(source).isDirectory() ? '' : basename(source)), {
          recursive: true,
        });
    }
  }
  for (const path of removedInBuild()) rmSync(join(target, path), { recursive: true });
}

/**
 * What the build stage removes of this tree before it is copied. Of packages, it removes only
 * sources.
 */
function removedInBuild(): string[] {
  const [, words = ''] =
    /rm -rf (node_modules\/.*)$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? [];
  const paths = words.split(' ').filter((path) => !path.startsWith('node_modules/'));
  expect(paths).toContain('dist/lib');
  return paths;
}

/** The files of this tree that a path of the build stage names. Its last part may have a `*`. */
function inBuildFolder(path: string): string[] {
  expect(path.startsWith(BUILD_FOLDER)).toBe(true);
  const source = join(root, path.slice(BUILD_FOLDER.length));
  if (!source.includes('*')) return [source];
  const [start = '', end = ''] = basename(source).split('*');
  return readdirSync(dirname(source)).flatMap((name) =>
    name.startsWith(start) && name.endsWith(end) ? [join(dirname(source), name)] : [],
  );
}

/** Unpacks the npm package, with its dependencies beside it. */
function layOutPackage(target: string): void {
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
  const name = execFileSync('npm', pack, { cwd: root, encoding: 'utf8' }).trim();
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, name), '-C', target, '--strip-components=1']);
  layOutPackages(join(target, 'node_modules'));
}

/** Links the packages that the lockfile does not mark as needed for development only. */
function layOutPackages(target: string): void {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  for (const [path, { dev }] of Object.entries(packages)) {
    const [top, ...nested] = path.split('node_modules/').slice(1);
    if (top === undefined || nested.length > 0 || dev === true || !existsSync(join(root, path)))
      continue;
    mkdirSync(dirname(join(target, top)), { recursive: true });
    symlinkSync(join(root, path), join(target, top));
  }
}

/** Runs a turn of the embedded model, and returns its items. */
async function itemsOfTurn(heddle: HeddleProcess, threadId: string, text: string) {
  expect((await heddle.turn(threadId, text)).status).toBe('completed');
  return (
    (await heddle.request('thread/read', { threadId, includeTurns: true })).thread.turns.at(-1)
      ?.items ?? []
  );
}

/** Runs a command of what is shipped, without input. */
function run(name: string, where: Place, ...args: string[]) {
  const options = {
    cwd: where.work,
    env: environment(where),
    encoding: 'utf8',
    input: '',
  } as const;
  return spawnSync(process.execPath, [join(folder, name, 'bin', 'heddle.js'), ...args], options);
}

describe.each(['image', 'package'])('the files of the %s', { timeout: MS_MAX }, (name) => {
  test('serve a whole session', async () => {
    const where = place({ 'config.toml': CONFIG });
    writeFiles(where.work, { 'fetch.cjs': FETCH_DENIED });
    const heddle = await startHeddle(where, { executable: join(folder, name, 'bin', 'heddle.js') });
    const { thread } = await heddle.request('thread/start', { cwd: where.work });
    const command = (cmd: string) => `call exec_command ${JSON.stringify({ cmd })}`;
    const ran = await itemsOfTurn(
      heddle,
      thread.id,
      `${command('echo made > made.txt && cat made.txt')}\nsay Done.`,
    );
    expect(ran).toContainEqual(
      expect.objectContaining({
        type: 'commandExecution',
        status: 'completed',
        aggregatedOutput: 'made\n',
      }),
    );
    const { files } = await heddle.request('fuzzyFileSearch', {
      query: 'made',
      roots: [where.work],
    });
    expect(files.map(({ path }) => path)).toEqual(['made.txt']);
    await heddle.request('config/value/write', {
      keyPath: 'model',
      value: 'other',
      mergeStrategy: 'replace',
    });
    expect((await heddle.request('config/read', {})).config.model).toBe('other');
    const echo = {
      threadId: thread.id,
      server: 'ex',
      tool: 'echo',
      arguments: { message: 'over MCP' },
    };
    expect((await heddle.request('mcpServer/tool/call', echo)).content).toMatchObject([
      { text: 'echo: over MCP' },
    ]);
    const fetched = await itemsOfTurn(
      heddle,
      thread.id,
      `${command(`${process.execPath} fetch.cjs`)}\nsay Done.`,
    );
    expect(fetched).toContainEqual(
      expect.objectContaining({ type: 'commandExecution', aggregatedOutput: 'status 403\n' }),
    );
    expect(await heddle.finish()).toMatchObject({ code: 0 });
    for (const command of ['check', 'vacuum', 'backup'])
      expect(
        run(name, where, 'store', command, ...(command === 'backup' ? ['threads.backup'] : [])),
      ).toMatchObject({
        status: 0,
        stderr: '',
      });
    expect(existsSync(join(where.work, 'threads.backup'))).toBe(true);
  });

  test('have all that the other commands need', () => {
    const where = place({ 'config.toml': CONFIG });
    writeFiles(where.work, { 'script.yaml': '- Hello.\n' });
    for (const generator of ['generate-ts', 'generate-json-schema']) {
      expect(run(name, where, generator, '--out', generator)).toMatchObject({
        status: 0,
        stderr: '',
      });
      expect(readdirSync(join(where.work, generator)).length).toBeGreaterThan(0);
    }
    expect(run(name, where, '--model-script', 'script.yaml')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('1 response not used'),
    });
  });

  test('have all that heddle doctor checks', () => {
    const where = place({ 'config.toml': CONFIG });
    const { status, stdout, stderr } = run(name, where, 'doctor');
    expect(status).toBe(0);
    // A slow machine is shown the progress.
    expect(stderr).toMatch(/^(?:heddle: checking .*\n)*$/);
    expect(stdout).toContain(where.home);
  });
});
