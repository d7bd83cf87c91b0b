import { closeSync, constants, openSync, readSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { loadPty, type Pty } from './load-pty.ts';
import { OutputReader } from './output-reader.ts';
import { ProcessStartError, type TerminalSize } from './processes.ts';
import { spawnChild, writeTo } from './spawn-child.ts';
import type { Launch, StartedProcess } from './started-process.ts';

/**
 * A session leader without a terminal gets the terminal that it opens. The shell opens it, and then
 * runs the program.
 */
export const TAKE_TERMINAL = 'exec 0<>"$0" 1>&0 2>&0; exec "$@"';
/** A terminal reads this character as Ctrl-C, unless its program has changed that. */
export const INTERRUPT_KEY = Buffer.of(0x03);
/** At the start of a line, a terminal reads this as the end of its input. */
const END_OF_INPUT = 0x04;
const LINE_FEED = 0x0a;
const READ_BYTES = 4096;
/** More than the buffer of a terminal. */
const REST_BYTES_MAX = 1024 * 1024;
const TERM_DEFAULT = 'xterm-256color';

/** Starts programs in terminals. */
export class Terminals {
  readonly #open = new Set<number>();

  /**
   * The file descriptors by which this process reads and writes terminals. Children would inherit
   * them.
   */
  get files(): ReadonlySet<number> {
    return this.#open;
  }

  /**
   * Starts a program in a new terminal. Rejects with a `ProcessStartError` if it cannot be started.
   */
  async start(
    { argv, cwd, env, files, takesTerminal = false, onOutput }: Launch,
    size: TerminalSize,
  ): Promise<StartedProcess> {
    const pty = await loadPty();
    const { master, programsEnd, path } = openTerminal(pty, size);
    this.#open.add(master);
    const stream = new ReadStream(master);
    stream.on('error', () => {});
    stream.once('close', () => this.#open.delete(master));
    const onData = (bytes: Buffer) => onOutput('stdout', bytes);
    const output = new OutputReader([{ open: (onBytes) => stream.on('data', onBytes), onData }]);
    const { child, exited } = await spawnChild({
      argv: takesTerminal ? argv : ['/bin/sh', '-c', TAKE_TERMINAL, path, ...argv],
      cwd,
      env: { TERM: TERM_DEFAULT, ...env },
      stdio: [
        ...(takesTerminal
          ? ([programsEnd, programsEnd, programsEnd] as const)
          : (['ignore', 'ignore', 'ignore'] as const)),
        ...files,
      ],
      hidden: this.#open,
    }).catch((error: unknown) => {
      closeSync(programsEnd);
      stream.destroy();
      throw error;
    });
    let atLineStart = true;
    const write = (data: Buffer) => {
      if (data.length > 0) atLineStart = data.at(-1) === LINE_FEED;
      return writeTo(stream, data);
    };
    return {
      pid: child.pid ?? 0,
      exited,
      output,
      write,
      endInput: () => void write(Buffer.alloc(atLineStart ? 1 : 2, END_OF_INPUT)),
      resize({ rows, cols }) {
        if (!stream.destroyed) pty.resize(master, cols, rows);
      },
      async finish() {
        // Once every process has closed the other end, Node discards the output that it has not
        // read.
        await output.given();
        if (!stream.destroyed) readRest(master, onData);
        closeSync(programsEnd);
        const allRead = await output.finish();
        stream.destroy();
        return allRead;
      },
    };
  }
}

/** Reads all output that is available now. */
function readRest(file: number, onData: (bytes: Buffer) => void): void {
  for (let rest = REST_BYTES_MAX; rest > 0; ) {
    const bytes = Buffer.alloc(READ_BYTES);
    let count = 0;
    try {
      count = readSync(file, bytes);
    } catch {
      // EAGAIN: no more output is available.
    }
    if (count === 0) return;
    onData(bytes.subarray(0, count));
    rest -= count;
  }
}

interface Terminal {
  master: number;
  programsEnd: number;
  path: string;
}

function openTerminal(pty: Pty, { rows, cols }: TerminalSize): Terminal {
  try {
    const { master, slave, pty: path } = pty.open(cols, rows);
    // Opened again, so that children do not inherit it.
    const programsEnd = openSync(path, constants.O_RDWR | constants.O_NOCTTY);
    closeSync(slave);
    return { master, programsEnd, path };
  } catch (error) {
    throw new ProcessStartError(
      `cannot open a terminal: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}
