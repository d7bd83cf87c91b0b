import { onLostOutput } from './on-lost-output.ts';
import type { Output, Screen } from './screen.ts';

/** The place in which a person reads that the process ends. */
type Notes = Pick<Screen, 'release' | 'note' | 'notesToTerminal'>;

/** The ways to end the process from outside. */
export interface EndingHost {
  stdout: Output;
  stderr: Output;
  /** Calls the handler with the number of each signal that asks the process to end. */
  onSignal(handler: (signal: number) => void): void;
  /** Calls the handler when the reader of stdout is gone. */
  onReaderGone(handler: () => void): void;
  exit(code: number): void;
}

const SIGINT = 2;
const SIGPIPE = 13;
const SIGNALLED = 128;
const FAILED = 1;

/**
 * The first signal interrupts the turn, and a second one ends the process. A reader that goes away
 * interrupts the turn, too. `notice` says to a person what the first signal does.
 */
export class ExecEnding {
  readonly #abort = new AbortController();
  readonly #exit: (code: number) => void;
  readonly #screen: Notes;
  readonly #notice: string;
  /** The exit code, whatever comes of the turn. Null: the turn decides. */
  exitCode: number | null = null;

  constructor(
    { stdout, stderr, onSignal, onReaderGone, exit }: EndingHost,
    screen: Notes,
    notice = 'interrupting the turn',
  ) {
    this.#exit = exit;
    this.#screen = screen;
    this.#notice = notice;
    onSignal((signal) => this.#signalled(signal));
    onReaderGone(() => this.#end(SIGNALLED + SIGPIPE));
    onLostOutput(stdout, (reason) => this.#lost(reason));
    // Nobody reads what happens, but the answer may still be wanted.
    stderr.on('error', () => {});
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Ctrl-C. */
  interrupt(): void {
    this.#signalled(SIGINT);
  }

  #signalled(signal: number): void {
    if (this.#abort.signal.aborted) {
      this.#exit(this.exitCode ?? SIGNALLED + signal);
      return;
    }
    if (signal === SIGINT) {
      this.#screen.release();
      if (this.#screen.notesToTerminal)
        this.#screen.note('', `${this.#notice}; Ctrl-C again ends at once`);
      this.#abort.abort();
    } else this.#end(SIGNALLED + signal);
  }

  #lost(reason: string | null): void {
    if (reason === null) {
      this.#end(SIGNALLED + SIGPIPE);
      return;
    }
    if (this.exitCode === null) this.#screen.note(`heddle: ${reason}`);
    this.#end(FAILED);
  }

  #end(exitCode: number): void {
    this.exitCode ??= exitCode;
    this.#abort.abort();
  }
}
