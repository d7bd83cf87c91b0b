import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXECUTABLE, environment, place } from './support.ts';

/** Runs the command to its end in a folder of its own. */
function run(args: string[], where = place()) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [EXECUTABLE, ...args], {
    cwd: where.work,
    env: environment(where),
    encoding: 'utf8',
    input: '',
  });
  return { where, status, stdout, stderr };
}

describe.each([
  {
    command: 'generate-json-schema',
    file: 'v2/ThreadStartParams.json',
    index: 'openrpc.json',
    experimental: 'v2/ServerDiagnosticsResponse.json',
  },
  {
    command: 'generate-ts',
    file: 'v2/ThreadStartParams.ts',
    index: 'index.ts',
    experimental: 'v2/ServerDiagnosticsResponse.ts',
  },
])('heddle $command', ({ command, file, index, experimental }) => {
  test('writes into a folder that it makes, and nothing elsewhere', () => {
    const { where, ...result } = run([command, '--out', 'a/b']);
    expect(result).toEqual({ status: 0, stdout: '', stderr: '' });
    for (const path of [file, index])
      expect(existsSync(join(where.work, 'a', 'b', path))).toBe(true);
    expect(existsSync(join(where.work, 'a', 'b', experimental))).toBe(false);
    expect([readdirSync(where.work), readdirSync(where.home)]).toEqual([['a'], []]);
  });

  test('is called below app-server too, with short options and the experimental API', () => {
    const { where, status } = run(['app-server', command, '-o', 'out', '--experimental']);
    expect(status).toBe(0);
    expect(existsSync(join(where.work, 'out', experimental))).toBe(true);
  });

  test('writes over its own files, and leaves others alone', () => {
    const where = place();
    mkdirSync(join(where.work, 'out', 'v2'), { recursive: true });
    const [own, other] = [file, 'v2/mine.txt'].map((path) => join(where.work, 'out', path)) as [
      string,
      string,
    ];
    for (const path of [own, other]) writeFileSync(path, 'mine');
    expect(run([command, '--out', join(where.work, 'out')], where).status).toBe(0);
    expect(readFileSync(other, 'utf8')).toBe('mine');
    expect(readFileSync(own, 'utf8')).toContain('ThreadStartParams');
    const first = readFileSync(own, 'utf8');
    expect(run([command, '--out', join(where.work, 'out')], where).status).toBe(0);
    expect(readFileSync(own, 'utf8')).toBe(first);
  });

  test.each([[[]], [['--out']], [['--out', '']], [['--out=']]])(
    'without a folder it says what it needs: %j',
    (args) => {
      const { status, stdout, stderr, where } = run([command, ...args]);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toMatch(/^heddle: .*--out.* \(see "heddle help generate-[a-z-]+"\)\n$/);
      expect(readdirSync(where.work)).toEqual([]);
    },
  );

  test('a file in the place of the folder is told of, and kept', () => {
    const where = place();
    const out = join(where.work, 'out');
    writeFileSync(out, 'mine');
    expect(run([command, '--out', 'out'], where)).toEqual({
      where,
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^heddle: cannot write .*: a file is in place of .*\n$/),
    });
    expect(readFileSync(out, 'utf8')).toBe('mine');
  });

  test('a folder in the place of one of its files is told of', () => {
    const where = place();
    mkdirSync(join(where.work, 'out', index), { recursive: true });
    const { status, stderr } = run([command, '--out', 'out'], where);
    expect(status).toBe(1);
    expect(stderr).toBe(
      `heddle: cannot write ${join(where.work, 'out', index)}: a folder is in place of the file\n`,
    );
  });

  test.runIf(process.platform === 'linux')(
    'a folder that the system cannot make fails at once, with what to do',
    () => {
      const { status, stdout, stderr } = run([command, '--out', '/proc/x']);
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toBe(
        'heddle: cannot write /proc/x: the system allows no new folder there; choose another folder with --out\n',
      );
    },
  );

  test.skipIf(process.getuid?.() === 0)('a folder that may not be written to is told of', () => {
    const where = place();
    chmodSync(where.work, 0o500);
    const { status, stderr } = run([command, '--out', 'out'], where);
    chmodSync(where.work, 0o700);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `heddle: cannot write ${join(where.work, 'out')}: permission denied\n`,
    });
  });
});

test.each([
  ['--drain', ['--drain'], 'app-server'],
  ['--wire-log', ['--wire-log', 'x.log'], 'app-server, exec and wire'],
  ['--strict-config', ['--strict-config'], 'app-server, exec and wire'],
])('%s is refused beside it, and nothing is written', (option, args, commands) => {
  const { where, status, stdout, stderr } = run(['generate-ts', '--out', 'out', ...args]);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toBe(
    `heddle: ${option} cannot be used with generate-ts, only with ${commands} (see "heddle help generate-ts")\n`,
  );
  expect(readdirSync(where.work)).toEqual([]);
});

test('its options are refused where nothing is generated', () => {
  for (const option of [['--out', 'x'], ['--experimental']]) {
    const { status, stderr } = run(['app-server', ...option]);
    expect(status).toBe(2);
    const problem = `${option[0]} cannot be used with app-server, only with generate-json-schema and generate-ts`;
    expect(stderr).toBe(`heddle: ${problem} (see "heddle --help")\n`);
  }
});
