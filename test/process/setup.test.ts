// @module-tag slow
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

function runNode(script: string, cwd: string): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { cwd, encoding: 'utf8' });
  return { status, stdout, stderr };
}

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'heddle-setup-'));
  cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
});

afterEach(() => rmSync(folder, { recursive: true }));

test('heddle without a build says how to make one', () => {
  expect(runNode('bin/heddle.js', folder)).toEqual({
    status: 1,
    stdout: '',
    stderr: `heddle: ${join(folder, 'dist', 'heddle.cjs')} is missing: run 'npm run build'\n`,
  });
});

test('the setup builds what is not built, and the second time says and does nothing', () => {
  for (const name of ['package.json', 'package-lock.json', 'tsconfig.json', 'src', 'schema', 'migrations']) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  expect(runNode('bin/setup.js', folder)).toEqual({ status: 0, stdout: '', stderr: 'setup: building dist/heddle.cjs\n' });
  expect(runNode('bin/setup.js', folder)).toEqual({ status: 0, stdout: '', stderr: '' });
  const cached = readdirSync(join(folder, 'dist')).filter((name) => name.endsWith('.cache'));
  expect(cached.map((name) => name.split('.')[0]).sort(), 'scripts that a turn uses, with their compiled code').toEqual([
    'heddle',
    'late',
    'shared',
    'store-worker',
    'validate-params',
    'validate-provided-item',
  ]);
});

test.runIf(process.platform === 'linux')('a setup that cannot bring bubblewrap says what to run, once, and does the rest', () => {
  for (const name of ['package.json', 'package-lock.json', 'tsconfig.json', 'src', 'schema', 'migrations']) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(join(root, 'node_modules')))
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  const commands = join(folder, 'commands');
  mkdirSync(commands);
  writeFileSync(join(commands, 'git'), '', { mode: 0o755 });
  writeFileSync(join(commands, 'bwrap'), 'cannot be run');
  const run = () => spawnSync(process.execPath, ['bin/setup.js'], { cwd: folder, encoding: 'utf8', env: { PATH: commands } });
  const first = run();
  expect(first.status).toBe(0);
  expect(first.stderr).toMatch(
    /^(setup: installing bubblewrap with apt-get\n)?setup: sandboxed commands are refused until .*; run: sudo .*bubblewrap\nsetup: building dist\/heddle\.cjs\n$/,
  );
  expect(run()).toMatchObject({ status: 0, stdout: '', stderr: '' });
});
