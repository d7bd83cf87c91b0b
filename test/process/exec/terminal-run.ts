import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, writeSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { onTestFinished } from 'vitest';
import { loadPty } from '../../../src/sandbox/processes/load-pty.ts';
import { EXECUTABLE, environment, type Place } from '../support.ts';

export interface TerminalOptions {
  /** Without colors, unless NO_COLOR is empty here. */
  env?: Record<string, string>;
  columns?: number;
  /**
   * A script of sh in place of heddle: "$@" is the command line of heddle, and the terminal is all
   * its streams.
   */
  script?: string;
}

/** A command of heddle at a terminal of its own, which controls it, as at a shell. */
export class TerminalRun {
  /** All that the terminal was given. */
  shown = '';
  /** Resolves when the process has ended and all that it wrote was read. */
  readonly exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  readonly pid: number;
  readonly #master: number;
  readonly #child: ChildProcess;
  readonly #waiting = new Set<() => void>();
  #hasEnded = false;
  /** What `until` has found ends here. */
  #found = 0;

  constructor(child: ChildProcess, master: number) {
    this.#child = child;
    this.#master = master;
    this.pid = child.pid ?? 0;
    const terminal = new ReadStream(master);
    const closed = new Promise((resolve) => terminal.once('close', resolve));
    terminal.on('error', () => terminal.destroy());
    terminal.setEncoding('utf8').on('data', (text: string) => {
      this.shown += text;
      this.#look();
    });
    const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>(
      (resolve) => {
        child.once('exit', (code, signal) => resolve({ code, signal }));
      },
    );
    this.exit = closed.then(() => {
      this.#hasEnded = true;
      this.#look();
      return exited;
    });
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await this.exit;
    });
  }

  static async start(
    where: Place,
    args: string[],
    { env = {}, columns = 80, script = 'exec "$@"' }: TerminalOptions = {},
  ): Promise<TerminalRun> {
    const { master, slave } = (await loadPty()).open(columns, 24);
    const command = ['-c', 'sh', '-c', script, 'sh', process.execPath, EXECUTABLE, ...args];
    const child = spawn('setsid', command, {
      cwd: where.work,
      env: { ...environment(where), TERM: 'xterm', NO_COLOR: '1', ...env },
      stdio: [slave, slave, slave],
    });
    closeSync(slave);
    return new TerminalRun(child, master);
  }

  /** Waits for the next place of this text. Rejects if the process ends before. */
  async until(text: string): Promise<void> {
    for (;;) {
      const place = this.shown.indexOf(text, this.#found);
      if (place >= 0) {
        this.#found = place + text.length;
        return;
      }
      if (this.#hasEnded)
        throw new Error(`${JSON.stringify(text)} was not shown, but:\n${this.shown}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  type(text: string): void {
    writeSync(this.#master, text);
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** The lines that were shown, without their carriage returns. */
  lines(): string[] {
    return this.shown.replaceAll('\r\n', '\n').split('\n');
  }

  #look(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
