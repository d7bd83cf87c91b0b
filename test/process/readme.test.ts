import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { EXECUTABLE, environment, place } from './support.ts';

const readme = readFileSync(join(dirname(dirname(EXECUTABLE)), 'README.md'), 'utf8');

/** The lines of the session in the README that begin with a sign, without it. */
function session(sign: '→' | '←'): string[] {
  const [, transcript = ''] = /## A session\n.*?```\n(.*?)```/s.exec(readme) ?? [];
  return transcript
    .split('\n')
    .filter((line) => line.startsWith(sign))
    .map((line) => line.slice(2));
}

/** Every `…` stands for anything. */
function pattern(line: string): RegExp {
  const parts = line.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
}

test('the session in the README is what the server says', () => {
  const where = place();
  const { status, stdout, stderr } = spawnSync(process.execPath, [EXECUTABLE, '--deterministic'], {
    cwd: where.work,
    env: environment(where),
    encoding: 'utf8',
    input: session('→')
      .map((line) => `${line}\n`)
      .join(''),
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toEqual(session('←').map((line) => expect.stringMatching(pattern(line))));
  expect(lines.length).toBeGreaterThan(10);
});
