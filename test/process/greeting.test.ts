import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { atTerminal } from './at-terminal.ts';
import { EXECUTABLE, environment, place } from './support.ts';

const DOCS = join(dirname(dirname(EXECUTABLE)), 'docs');

test('heddle at a terminal says what it is and what to try, reports what is no message, and ends with Ctrl-D', async () => {
  const { shown, exitCode } = await atTerminal(place(), [], {
    typed: 'hello\n\u0004',
    when: `${DOCS}`,
  });
  expect(exitCode).toBe(0);
  expect(shown).toMatch(/^heddle is a server for coding agents/);
  for (const words of [
    'JSON-RPC messages, one per line',
    'heddle exec "',
    'heddle wire',
    'heddle doctor',
    'heddle --help',
    'Ctrl-D',
  ])
    expect(shown).toContain(words);
  expect(shown).toMatch(
    /"level":40,.*"reason":"it is not valid JSON: expected a value","column":1,.*skipped an invalid JSON-RPC message/,
  );
  expect(
    Math.max(
      ...shown
        .slice(0, shown.indexOf(DOCS))
        .split('\n')
        .map(({ length }) => length),
    ),
  ).toBeLessThan(80);
});

test('without a terminal it says nothing', () => {
  const where = place();
  const options = {
    cwd: where.work,
    env: environment(where),
    encoding: 'utf8',
    input: '',
  } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [EXECUTABLE], options);
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
});
