import { spawn } from 'node:child_process';
import { closeSync, writeSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { onTestFinished } from 'vitest';
import { loadPty } from '../../src/sandbox/processes/load-pty.ts';
import { EXECUTABLE, environment, type Place } from './support.ts';

interface Terminal {
  /** All that the process has written to the terminal. */
  shown: string;
  exitCode: number | null;
}

/**
 * Runs heddle at a terminal of 80 columns. Types `typed` when the terminal shows `when`. Resolves
 * at the end of the process.
 */
export async function atTerminal(
  where: Place,
  args: string[],
  { typed, when }: { typed: string; when: string },
): Promise<Terminal> {
  const { master, slave } = (await loadPty()).open(80, 24);
  const child = spawn(process.execPath, [EXECUTABLE, ...args], {
    cwd: where.work,
    env: { ...environment(where), TERM: 'dumb' },
    stdio: [slave, slave, slave],
  });
  closeSync(slave);
  const terminal = new ReadStream(master);
  onTestFinished(() => {
    child.kill('SIGKILL');
    terminal.destroy();
  });
  let shown = '';
  // The terminal fails to be read when the process has ended.
  const over = new Promise((resolve) => terminal.once('error', resolve).once('end', resolve));
  terminal.setEncoding('utf8').on('data', (text: string) => {
    const wasAsked = shown.includes(when);
    shown += text;
    if (!wasAsked && shown.includes(when)) writeSync(master, typed);
  });
  const exitCode = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  await over;
  return { shown: shown.replaceAll('\r\n', '\n'), exitCode };
}
