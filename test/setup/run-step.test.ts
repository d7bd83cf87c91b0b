import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';

interface Ended {
  succeeded: boolean;
  problem: string | null;
  output: string;
}

interface RunStep {
  showProgress<T>(title: string, work: () => Promise<T>, output: Terminal): Promise<T>;
  runCommand(
    command: string,
    args: string[],
    options: { msMax: number; cwd?: string; env?: NodeJS.ProcessEnv },
  ): Promise<Ended>;
  killCommands(): void;
}

const { showProgress, runCommand, killCommands } = createRequire(import.meta.url)(
  '../../bin/setup/run-step.js',
) as RunStep;

class Terminal {
  shown = '';
  constructor(
    readonly isTTY: boolean,
    readonly columns?: number,
  ) {}
  write(text: string): void {
    this.shown += text;
  }
  /** The lines as a terminal of unlimited height has them. */
  get lines(): string[] {
    return this.shown.split('\n').map((line) => line.split('\r\x1b[2K').at(-1) ?? '');
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Shows the progress of work that takes so long. */
async function progressOf(ms: number, output: Terminal, during = () => {}): Promise<void> {
  let done = () => {};
  const work = new Promise<void>((resolve) => {
    done = resolve;
  });
  const shown = showProgress('compiling', () => work, output);
  vi.advanceTimersByTime(ms);
  during();
  done();
  await shown;
}

describe('progress', () => {
  test('is a line every ten seconds if nobody watches', async () => {
    const output = new Terminal(false);
    await progressOf(25_400, output);
    expect(output.shown).toBe(
      'setup: compiling\nsetup: compiling: 10 s so far\nsetup: compiling: 20 s so far\nsetup: compiling: ended after 25 s\n',
    );
  });

  test('is one line for short work', async () => {
    const output = new Terminal(false);
    await progressOf(9_999, output);
    expect(output.shown).toBe('setup: compiling\n');
  });

  test('is one line on a terminal, which is renewed each second', async () => {
    const output = new Terminal(true, 80);
    await progressOf(62_000, output, () => {
      expect(output.lines).toEqual(['setup: compiling (62 s)']);
      expect(output.shown.split('\r')).toHaveLength(63);
    });
    expect(output.lines).toEqual(['setup: compiling (62 s)', '']);
  });

  test.each([0, 20, 24, undefined])(
    'is never wider than a terminal of %s columns, which could not renew it',
    async (columns) => {
      const output = new Terminal(true, columns);
      await progressOf(1_000_000, output, () => {
        expect(
          Math.max(...output.shown.split('\r\x1b[2K').map((line) => line.length)),
        ).toBeLessThan(columns || 80);
      });
      expect(output.lines).toEqual(['setup: compiling (1000 s)', '']);
    },
  );

  test('ends with the error of the work', async () => {
    const output = new Terminal(false);
    const fails = showProgress('building', () => Promise.reject(new Error('no')), output);
    await expect(fails).rejects.toThrow('no');
    expect(output.shown).toBe('setup: building\n');
  });
});

describe('a command', () => {
  const node = (script: string, msMax = 60_000) =>
    runCommand(process.execPath, ['-e', script], { msMax });

  /**
   * Starts a command that starts another one. Both run until they are killed, and both hold the
   * pipes. Waits until both run.
   */
  async function startTwo(msMax: number): Promise<{ ended: Promise<Ended> }> {
    let count = 0;
    const server = createServer();
    const bothRun = new Promise<void>((resolve) => {
      server.on('connection', (socket) => {
        socket.on('error', () => {});
        count++;
        if (count === 2) resolve();
      });
    });
    server.listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const connect = `require('net').connect(${(server.address() as AddressInfo).port}, '127.0.0.1').on('error', () => {});`;
    const other = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(connect)}], { stdio: 'inherit' });`;
    const ended = node(`${other} ${connect}`, msMax);
    await bothRun;
    return { ended };
  }

  test('succeeds, or says how it ended and what it wrote', async () => {
    expect(await node('console.log("out")')).toEqual({
      succeeded: true,
      problem: null,
      output: 'out',
    });
    expect(await node('console.error("why"); process.exit(3)')).toEqual({
      succeeded: false,
      problem: `${process.execPath} ended with exit code 3`,
      output: 'why',
    });
  });

  test('that does not exist is named', async () => {
    expect(await runCommand('no-such-program', [], { msMax: 60_000 })).toEqual({
      succeeded: false,
      problem: 'no-such-program was not found in the PATH',
      output: '',
    });
  });

  test('keeps the end of a long output only', async () => {
    const { output } = await node('process.stdout.write("x".repeat(1e6) + "the end")');
    expect({ length: output.length, end: output.slice(-7) }).toEqual({
      length: 16_384,
      end: 'the end',
    });
  });

  // It has not ended before its pipes have been closed, by all that hold them.
  test('that takes too long is killed, with all that it has started', async () => {
    const { ended } = await startTwo(90_000);
    vi.advanceTimersByTime(90_000);
    expect(await ended).toEqual({
      succeeded: false,
      problem: `${process.execPath} did not end within 90 s`,
      output: '',
    });
  });

  test('is killed with all that it has started when the setup ends', async () => {
    const { ended } = await startTwo(90_000);
    killCommands();
    expect(await ended).toEqual({
      succeeded: false,
      problem: `${process.execPath} ended with SIGKILL`,
      output: '',
    });
    killCommands();
  });
});
