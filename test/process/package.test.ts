import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'heddle-package-'));
  const name = execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], { cwd: root, encoding: 'utf8' });
  execFileSync('tar', ['-xzf', name.trim()], { cwd: folder });
  symlinkSync(join(root, 'node_modules'), join(folder, 'package', 'node_modules'));
});

afterAll(() => rmSync(folder, { recursive: true }));

test('the npm package has all that the server needs to start a thread', () => {
  const requests = [
    { id: 1, method: 'initialize', params: { clientInfo: { name: 'test', version: '1.0.0' } } },
    { id: 2, method: 'thread/start', params: {} },
  ];
  const output = execFileSync(process.execPath, ['package/bin/heddle.js', 'app-server'], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, HEDDLE_HOME: join(folder, 'home') },
    input: requests.map((request) => `${JSON.stringify(request)}\n`).join(''),
  });
  const messages = output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { id?: number; result?: unknown });
  expect(messages.filter(({ id, result }) => id !== undefined && result !== undefined).map(({ id }) => id)).toEqual([1, 2]);
});

test.each([
  ['generate-json-schema', 'v2/ThreadStartParams.json'],
  ['generate-ts', 'v2/ThreadStartParams.ts'],
])('the npm package has all that %s needs', (command, file) => {
  execFileSync(process.execPath, ['package/bin/heddle.js', command, '--out', command], { cwd: folder });
  expect(existsSync(join(folder, command, file))).toBe(true);
});
