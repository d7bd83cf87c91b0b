import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { ReadStream } from 'node:tty';
import { expect, onTestFinished, test } from 'vitest';
import { loadPty } from '../../src/sandbox/processes/load-pty.ts';
import { writeFiles } from '../config/temp-folder.ts';
import { EXECUTABLE, environment, type Place, place, startHeddle } from './support.ts';

const FILE = '.codex/config.toml';

function trust(where: Place, args: string[] = []) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [EXECUTABLE, 'trust', ...args], {
    cwd: where.work,
    env: environment(where),
    encoding: 'utf8',
    input: 'y\n',
    timeout: 30_000,
  });
  return { status, stdout, stderr };
}

/** A project that the user trusts and that a server has seen, with a file that is new since. */
async function changedProject(): Promise<Place> {
  const where = place();
  mkdirSync(join(where.work, '.git', 'refs'), { recursive: true });
  writeFiles(where.home, {
    'config.toml': `model_provider = "own"\n[model_providers.own]\nwire_api = "embedded"\n[projects.${JSON.stringify(where.work)}]\ntrust_level = "trusted"\n`,
  });
  expect(await modelIn(where)).toBe('embedded');
  writeFiles(where.work, { [FILE]: 'model = "theirs"\n' });
  expect(await modelIn(where)).toBe('embedded');
  return where;
}

async function modelIn(where: Place): Promise<string> {
  const heddle = await startHeddle(where);
  const { model } = await heddle.request('thread/start', {});
  await heddle.finish();
  return model;
}

test('heddle trust --yes: the file of the project is in force in the next thread', async () => {
  const where = await changedProject();
  expect(trust(where)).toEqual({
    status: 2,
    stdout: expect.stringContaining(`${join(where.work, FILE)} is new:\n  | model = "theirs"\n`),
    stderr: 'heddle: trust: nobody can answer, because the input is not a terminal: use --yes\n',
  });
  expect(await modelIn(where)).toBe('embedded');
  mkdirSync(join(where.work, 'sub'));
  expect(trust(where, ['sub', '--yes'])).toMatchObject({ status: 0, stderr: '' });
  expect(await modelIn(where)).toBe('theirs');
});

test.each([
  ['y\n', 0, true],
  ['\n', 1, false],
  ['\u0004', 1, false],
])(
  'heddle trust at a terminal where the user types %j: exit code %i',
  async (typed, code, isTrusted) => {
    const where = await changedProject();
    const before = readFileSync(join(where.home, 'heddle-trust.jsonl'), 'utf8');
    const { master, slave } = (await loadPty()).open(80, 24);
    const child = spawn(process.execPath, [EXECUTABLE, 'trust'], {
      cwd: where.work,
      env: { ...environment(where), TERM: 'dumb' },
      stdio: [slave, slave, 'ignore'],
    });
    closeSync(slave);
    const terminal = new ReadStream(master);
    onTestFinished(() => {
      child.kill('SIGKILL');
      terminal.destroy();
    });
    let shown = '';
    terminal.on('error', () => {});
    terminal.setEncoding('utf8').on('data', (text: string) => {
      const wasAsked = shown.includes('[y/N] ');
      shown += text;
      if (!wasAsked && shown.includes('[y/N] ')) writeSync(master, typed);
    });
    const exitCode = await new Promise((resolve) => child.once('exit', resolve));
    expect(exitCode).toBe(code);
    expect(readFileSync(join(where.home, 'heddle-trust.jsonl'), 'utf8') !== before).toBe(isTrusted);
  },
);

test.each([
  [['a', 'b'], "trust: unexpected 'b'"],
  [['--drain'], '--drain cannot be used with trust, only with app-server'],
  [['missing'], 'there is no such folder'],
])('heddle trust %j is refused', (args, problem) => {
  expect(trust(place(), args)).toMatchObject({
    status: 2,
    stdout: '',
    stderr: expect.stringContaining(problem),
  });
});

test('--yes belongs to commands that ask', () => {
  const where = place();
  const { status, stderr } = spawnSync(process.execPath, [EXECUTABLE, '--yes'], {
    env: environment(where),
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([
    2,
    expect.stringContaining(
      'heddle: --yes cannot be used with app-server, only with init, trust and threads delete',
    ),
  ]);
});

test('--deterministic follows the record, and records nothing', async () => {
  const where = place();
  writeFiles(where.home, {
    'config.toml': `[projects.${JSON.stringify(where.work)}]\ntrust_level = "trusted"\n`,
  });
  writeFiles(where.work, { [FILE]: 'developer_instructions = "theirs"\n' });
  const layers = () => {
    const handshake = {
      id: 1,
      method: 'initialize',
      params: { clientInfo: { name: 'script', version: '1' } },
    };
    const read = { id: 2, method: 'config/read', params: { cwd: where.work } };
    const { stdout } = spawnSync(process.execPath, [EXECUTABLE, '--deterministic'], {
      cwd: where.work,
      env: environment(where),
      encoding: 'utf8',
      input: `${JSON.stringify(handshake)}\n${JSON.stringify(read)}\n`,
    });
    return stdout;
  };
  const first = layers();
  expect(first).toContain('"developer_instructions":"theirs"');
  expect([layers(), readdirSync(where.home)]).toEqual([first, ['config.toml']]);
  await modelIn(where);
  writeFiles(where.work, { [FILE]: 'developer_instructions = "changed"\n' });
  expect(layers()).not.toContain('"developer_instructions":"changed"');
});
