import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeFiles } from '../config/temp-folder.ts';
import { TerminalRun } from './exec/terminal-run.ts';
import { EXECUTABLE, environment, type Place, place, startHeddle } from './support.ts';

/**
 * Preloaded: a copy waits until the test writes to a pipe, and holds the main thread as the copy of
 * a large file does.
 */
const HOLD = `
const fs = require('node:fs');
const { copyFileSync } = fs;
fs.copyFileSync = (from, to) => {
  fs.readFileSync(process.env.HELD_BY);
  copyFileSync(from, to);
};
`;

/** A home with a database and a backup of it. Its next restore is held. */
async function heldPlace(): Promise<{
  where: Place;
  env: Record<string, string>;
  release(): void;
}> {
  const where = place({ 'hold.cjs': HOLD });
  const heddle = await startHeddle(where);
  await heddle.request('thread/start', {});
  await heddle.finish();
  const made = spawnSync(process.execPath, [EXECUTABLE, 'store', 'backup', 'copy.db'], {
    cwd: where.work,
    env: environment(where),
  });
  expect(made.status).toBe(0);
  const gate = join(where.temp, 'gate');
  execFileSync('mkfifo', [gate]);
  const env = {
    ...environment(where),
    HELD_BY: gate,
    NODE_OPTIONS: `--require ${join(where.home, 'hold.cjs')}`,
  };
  return { where, env, release: () => writeFileSync(gate, '') };
}

const RESTORE = ['store', 'restore', 'copy.db'];

test.each([{}, { NO_COLOR: '', TERM: 'xterm-256color' }])(
  'on a terminal (%j), one line shows the progress and goes away',
  async (more) => {
    const { where, env, release } = await heldPlace();
    const run = await TerminalRun.start(where, RESTORE, { env: { ...env, ...more } });
    await run.until('\r\x1b[Kcopying … ');
    release();
    expect((await run.exit).code).toBe(0);
    const [progress = '', ...others] = run.lines().map((line) => line.replaceAll('\r\x1b[K', '|'));
    expect(progress).toMatch(
      /^(?:\|(?:opening the database|copying|checking the copy) … \d+ s)+\|\/.* is restored\. Threads: 1\./,
    );
    expect(others.join('')).toBe('');
  },
);

test('without a terminal, lines on stderr show it; with --json, none does', async () => {
  const [shown, silent] = [await heldPlace(), await heldPlace()];
  const start = ({ where, env }: typeof shown, args: string[]) => {
    const child = spawn(process.execPath, [EXECUTABLE, ...RESTORE, ...args], {
      cwd: where.work,
      env,
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const run = {
      stdout: '',
      stderr: '',
      seen: () => {},
      status: Promise.resolve<number | null>(null),
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (run.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      run.stderr += text;
      run.seen();
    });
    run.status = new Promise((resolve) => child.once('close', resolve));
    return run;
  };
  // It begins first, so it has worked for longer when the other one shows its progress.
  const quiet = start(silent, ['--json']);
  const told = start(shown, []);
  await new Promise<void>((resolve) => {
    told.seen = resolve;
  });
  shown.release();
  silent.release();
  expect([await told.status, await quiet.status]).toEqual([0, 0]);
  expect(told.stderr).toMatch(
    /^(?:heddle: (?:opening the database|copying|checking the copy) … \d+ s\n)+$/,
  );
  expect(told.stdout).toMatch(/ is restored\. Threads: 1\. The old database is kept as .*\n$/);
  expect(quiet.stderr).toBe('');
  expect(JSON.parse(quiet.stdout)).toMatchObject({ ok: true, threads: 1 });
});

test('a refusal is one line, whatever was shown before', async () => {
  const where = place();
  writeFiles(where.work, { 'copy.db': 'no database' });
  const { status, stdout, stderr } = spawnSync(process.execPath, [EXECUTABLE, ...RESTORE], {
    cwd: where.work,
    env: environment(where),
    encoding: 'utf8',
  });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(
    /^(?:heddle: .* … \d+ s\n)*heddle: .*copy\.db is damaged, so it was not restored.*\n$/,
  );
});
