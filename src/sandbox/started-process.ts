import type { OutputReader } from './drain-output.ts';
import type { ProcessEnd, TerminalSize } from './processes.ts';

/** A process as its means of starting gives it: what has ended is not yet read, what it started is not yet looked after. */
export interface StartedProcess {
  readonly pid: number;
  /** Resolves when the program has ended. Never rejects. */
  readonly exited: Promise<ProcessEnd>;
  readonly output: OutputReader;
  write(data: Buffer): Promise<void>;
  endInput(): void;
  resize(size: TerminalSize): void;
  /** Gives up what the ended process was written to and read by. */
  release(): void;
}
