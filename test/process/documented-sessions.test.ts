import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { blocksOf, ROOT, section } from '../docs/pages.ts';
import { pattern } from './page-examples.ts';
import { EXECUTABLE, environment, place } from './support.ts';

type Place = ReturnType<typeof place>;

const QUICKSTART = 'docs/quickstart.md';
const hasPython =
  spawnSync('python3', ['-c', 'import sys; assert sys.version_info >= (3, 8)']).status === 0;

/** The lines of a text that begin with a sign, without it. */
function lines(text: string, sign: '→' | '←'): string[] {
  const all = text.split('\n').filter((line) => line.startsWith(`${sign} `));
  return all.map((line) => line.slice(2));
}

/** What the server prints for these lines, with the folders of the pages. */
function answers(input: readonly string[], where: Place = place()): string[] {
  const { status, stdout, stderr } = spawnSync(process.execPath, [EXECUTABLE, '--deterministic'], {
    cwd: where.work,
    env: environment(where),
    encoding: 'utf8',
    input: input.map((line) => `${line}\n`).join(''),
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout
    .trimEnd()
    .replaceAll(where.work, '/home/me/try')
    .replaceAll(where.home, '/home/me/.heddle')
    .split('\n');
}

test('the session in the README is what the server says', () => {
  const session = section('README.md', 'A session');
  const found = answers(lines(session, '→'));
  expect(found).toEqual(lines(session, '←').map((line) => expect.stringMatching(pattern(line))));
  expect(found.length).toBeGreaterThan(10);
});

test('the session in the quickstart is what the server says, and the file to save has all that its client writes', () => {
  const blocks = blocksOf(QUICKSTART);
  const file =
    blocks
      .find(({ language }) => language === 'jsonl')
      ?.text.trimEnd()
      .split('\n') ?? [];
  const shown = blocks.filter(({ language }) => language === '').map(({ text }) => text);
  expect(shown.flatMap((text) => lines(text, '→'))).toEqual(file);
  const where = place();
  const found = answers(file, where);
  expect(found).toEqual(
    shown.flatMap((text) => lines(text, '←')).map((line) => expect.stringMatching(pattern(line))),
  );
  expect(found.length).toBeGreaterThan(50);
  expect(readFileSync(join(where.work, 'notes', 'hello.txt'), 'utf8')).toBe('Hello.\n');
});

test('the failed turn in docs/clients/turns.md is what the server says', () => {
  const threadId = '019b76da-a800-7000-8000-000000000001';
  const input = [
    {
      id: 1,
      method: 'initialize',
      params: { clientInfo: { name: 'my-editor', version: '1.0.0' } },
    },
    { id: 2, method: 'thread/start', params: {} },
    {
      id: 3,
      method: 'turn/start',
      params: { threadId, input: [{ type: 'text', text: 'fail rate_limit_exceeded' }] },
    },
  ];
  const shown = lines(section('docs/clients/turns.md', 'A failed turn'), '←');
  expect(shown).toHaveLength(3);
  const found = answers(input.map((message) => JSON.stringify(message)));
  expect(found.slice(-shown.length)).toEqual(
    shown.map((line) => expect.stringMatching(pattern(line))),
  );
});

test.skipIf(!hasPython)('the session in Python prints what the quickstart says', () => {
  const where = place();
  const program = join(ROOT, 'examples', 'python', 'session.py');
  expect(readFileSync(program, 'utf8').split('\n').filter(Boolean).length).toBeLessThanOrEqual(60);
  const { status, stdout, stderr } = spawnSync('python3', [program], {
    cwd: where.work,
    env: environment(where),
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const [printed] = blocksOf(QUICKSTART).filter(({ text }) => text.startsWith('userMessage'));
  expect(stdout).toBe(printed?.text);
});

test.skipIf(!hasPython)(
  'the tests in Python pass, in a copy of the example',
  { tags: 'slow' },
  () => {
    const where = place();
    const copy = join(where.work, 'test_scripted.py');
    copyFileSync(join(ROOT, 'examples', 'python', 'test_scripted.py'), copy);
    const env = { ...environment(where), HEDDLE_JS: EXECUTABLE };
    const { status, stderr } = spawnSync('python3', ['-m', 'unittest', 'test_scripted.py'], {
      cwd: where.work,
      env,
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringMatching(/^\.{6}\n.*\nRan 6 tests in .*\n\nOK\n$/),
    });
  },
);
