// @module-tag slow
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { livingWith, uniqueSleep } from '../sandbox/living-with.ts';
import { CLIENT_INFO } from '../support/test-client.ts';
import {
  EXECUTABLE,
  environment,
  type HeddleProcess,
  type Place,
  place,
  startHeddle,
} from './support.ts';

/** How long a server may take to notice that nobody is there any more. */
const NOTICED_MS_MAX = 6_000;
const CONFIG = { 'config.toml': 'sandbox_mode = "danger-full-access"\n' };

/** A script that starts all kinds of descendants, says so, and goes on. */
function tree(sleep: string): string {
  const daemon = (prefix: string) =>
    `(setsid sh -c '(${prefix} setsid nohup ${sleep} >/dev/null 2>&1 </dev/null &)' &)`;
  return `${sleep} & setsid ${sleep} & nohup ${sleep} >/dev/null 2>&1 & ${daemon('')}; ${daemon('env -i')}; sleep 0.3; echo up; wait`;
}

async function startTree(heddle: HeddleProcess): Promise<string> {
  const sleep = uniqueSleep();
  const params = {
    command: ['sh', '-c', tree(sleep)],
    disableTimeout: true,
    streamStdoutStderr: true,
  };
  for (const tty of [false, true])
    heddle.call('command/exec', { ...params, tty, processId: `p${tty}` }).catch(() => {});
  await heddle.waitFor('command/exec/outputDelta', ({ processId }) => processId === 'pfalse');
  await heddle.waitFor('command/exec/outputDelta', ({ processId }) => processId === 'ptrue');
  await expect.poll(() => livingWith(sleep).length).toBeGreaterThanOrEqual(8);
  return sleep;
}

const nothingLives = (sleep: string) =>
  expect.poll(() => livingWith(sleep), { timeout: NOTICED_MS_MAX }).toEqual([]);

describe('no command outlives the server', () => {
  test.each(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const)('that %s ends', async (signal) => {
    const heddle = await startHeddle(place(CONFIG));
    const sleep = await startTree(heddle);
    heddle.signal(signal);
    await heddle.exit;
    await nothingLives(sleep);
  });

  test('that SIGKILL ends, where they are in a sandbox', async () => {
    const heddle = await startHeddle(
      place({ 'config.toml': 'sandbox_mode = "workspace-write"\n' }),
    );
    const sleep = await startTree(heddle);
    heddle.signal('SIGKILL');
    await heddle.exit;
    await nothingLives(sleep);
  });

  test('that SIGKILL ends, and they remove their locks first', async () => {
    const where = place(CONFIG);
    const heddle = await startHeddle(where);
    const sleep = uniqueSleep();
    const lock = join(where.work, 'lock');
    const command = ['sh', '-c', `: > "$0"; trap 'rm "$0"; exit' TERM; ${sleep} & wait`, lock];
    heddle.call('command/exec', { command, disableTimeout: true }).catch(() => {});
    await expect.poll(() => [existsSync(lock), livingWith(sleep).length]).toEqual([true, 1]);
    heddle.signal('SIGKILL');
    await heddle.exit;
    await expect.poll(() => existsSync(lock), { timeout: NOTICED_MS_MAX }).toBe(false);
    await nothingLives(sleep);
  });

  test('whose input ends', async () => {
    const heddle = await startHeddle(place(CONFIG));
    const sleep = await startTree(heddle);
    expect(await heddle.finish()).toEqual({ code: 0, signal: null });
    await nothingLives(sleep);
  });

  test('that is told twice to end', async () => {
    const heddle = await startHeddle(place(CONFIG));
    const sleep = await startTree(heddle);
    heddle.signal('SIGTERM');
    heddle.signal('SIGINT');
    expect([130, 143]).toContain((await heddle.exit).code);
    await nothingLives(sleep);
  });

  test('that kills commands again and again', { tags: 'slow' }, async () => {
    const heddle = await startHeddle(place(CONFIG));
    for (let round = 0; round < 5; round++) {
      const sleep = await startTree(heddle);
      for (const processId of ['pfalse', 'ptrue'])
        await heddle.request('command/exec/terminate', { processId });
      await nothingLives(sleep);
      heddle.messages.length = 0;
    }
    expect(
      await heddle.request('command/exec', { command: ['echo', 'still there'] }),
    ).toMatchObject({ stdout: 'still there\n' });
  });
});

describe('a server whose input stays open ends by itself', () => {
  test('when nobody reads it any more', async () => {
    const heddle = await startHeddle(place(CONFIG));
    const sleep = await startTree(heddle);
    heddle.stdout.destroy();
    expect(await heddle.exit).toEqual({ code: 0, signal: null });
    await nothingLives(sleep);
  });

  test('when nobody reads the pipe that it writes to', async () => {
    const reading = '{ sleep 1; head -n 1 >first; }';
    const { line } = behindShell(
      place(CONFIG),
      `mkfifo in; exec 9<>in 3>&1; head -n 1 >&9; { "$@" <in 3>&- & wait $!; echo "ended $?" >&3; } | ${reading}`,
    );
    expect(await line()).toBe('ended 0');
  });

  test('when what started it has ended', async () => {
    const where = place(CONFIG);
    const { child, line } = behindShell(
      where,
      'mkfifo in; exec 9<>in; head -n 1 >&9; "$@" <in >answers & echo $!; cat',
    );
    const pid = Number(await line());
    await expect
      .poll(() => readFileSync(join(where.work, 'answers'), 'utf8'), { timeout: 10_000 })
      .toContain('userAgent');
    child.kill('SIGKILL');
    await expect.poll(() => isAlive(pid), { timeout: NOTICED_MS_MAX }).toBe(false);
  });
});

/**
 * Runs the server from a shell's script, as `"$@"`, in a folder of its own. Gives the script's
 * lines, one by one.
 */
function behindShell(
  where: Place,
  script: string,
): { child: ChildProcess; line: () => Promise<string> } {
  const child = spawn('/bin/sh', ['-c', script, 'sh', process.execPath, EXECUTABLE, 'app-server'], {
    cwd: where.work,
    env: environment(where),
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  onTestFinished(() => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {
      // It is gone already.
    }
  });
  const lines: string[] = [];
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
  });
  child.stdin.write(
    `${JSON.stringify({ id: 0, method: 'initialize', params: { clientInfo: CLIENT_INFO } })}\n`,
  );
  const line = async () => {
    await expect.poll(() => lines.length, { timeout: 10_000 }).toBeGreaterThan(0);
    return lines.shift() ?? '';
  };
  return { child, line };
}

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
