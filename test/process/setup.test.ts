import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
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
    stderr: `heddle: ${join(folder, 'dist', 'heddle.cjs')} is missing; 'npm run build' makes it\n`,
  });
});

test('the setup builds what is not built, and the second time says and does nothing', () => {
  for (const name of ['package.json', 'package-lock.json', 'tsconfig.json', 'src', 'schema', 'migrations']) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  expect(runNode('bin/setup.js', folder)).toEqual({ status: 0, stdout: '', stderr: 'setup: building dist/heddle.cjs\n' });
  expect(runNode('bin/setup.js', folder)).toEqual({ status: 0, stdout: '', stderr: '' });
});
