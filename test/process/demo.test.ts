// @module-tag slow
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const DEMO_MS_MAX = 60_000;
const DONE =
  'ok: checked the handshake, streaming, the history after a kill, resume, fork, a turn in each thread, a command, a patch, an approval, a guardian, an agent of an agent, the list, and the exit';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'heddle-demo-test-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the demo without a terminal, with the embedded model, its temporary files in `folder`. */
function runDemo({ args = [], path = process.env.PATH }: { args?: string[]; path?: string | undefined }) {
  const { OPENAI_API_KEY: _key, HEDDLE_LOG: _log, ...others } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', 'examples/demo.ts', ...args], {
    cwd: root,
    env: { ...others, PATH: path, TMPDIR: folder },
    encoding: 'utf8',
    timeout: DEMO_MS_MAX,
  });
  return {
    status,
    lastLine: stdout.trimEnd().split('\n').at(-1),
    stdout,
    stderr,
    left: readdirSync(folder).filter((name) => name.startsWith('heddle-')),
  };
}

test('the demo without git says what is missing and leaves nothing behind', () => {
  const { status, stderr, left } = runDemo({ path: folder });
  expect({ status, stderr, left }).toEqual({ status: 1, stderr: '\nThe demo failed: spawnSync git ENOENT\n', left: [] });
});

test('the demo runs to its end without a terminal and leaves nothing behind', { timeout: DEMO_MS_MAX }, () => {
  const { status, lastLine, stderr, left } = runDemo({});
  expect({ status, lastLine, stderr, left }).toEqual({ status: 0, lastLine: DONE, stderr: '', left: [] });
});

test('the demo with --wire shows both directions, and deltas as one line', { timeout: DEMO_MS_MAX }, () => {
  const { lastLine, stdout } = runDemo({ args: ['--wire'] });
  expect(lastLine).toBe(DONE);
  expect(stdout).toMatch(/^ +→ {"id":1,"method":"initialize"/m);
  expect(stdout).toMatch(/^ +← {"id":1,"result":{"userAgent"/m);
  expect(stdout).toMatch(/^ +← {"method":"item\/agentMessage\/delta", …} × 13$/m);
});
