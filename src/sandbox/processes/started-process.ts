import type { OutputReader } from './output-reader.ts';
import type { OutputStream, ProcessEnd, TerminalSize } from './processes.ts';

/** A program to start. Its environment or limits already have the mark. */
export interface Launch {
  /** Not empty. */
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Files to pass to it, from file descriptor 3 on. */
  files: readonly number[];
  /** Whether the program takes the terminal on its stdin as its own, when it runs in one. */
  takesTerminal?: boolean;
  onOutput: (stream: OutputStream, bytes: Buffer) => void;
}

/** How the program ended. */
export type ProgramEnd = Pick<ProcessEnd, 'exitCode'>;

/** A started process. Does not keep track of the processes that it starts. */
export interface StartedProcess {
  readonly pid: number;
  /** Resolves when the program has ended. Never rejects. */
  readonly exited: Promise<ProgramEnd>;
  readonly output: OutputReader;
  write(data: Buffer): Promise<void>;
  endInput(): void;
  resize(size: TerminalSize): void;
  /**
   * Call it after the program has ended. Resolves when everything that it wrote has been read, and
   * closes its output. Returns false if other processes still hold the output open after a moment.
   */
  finish(): Promise<boolean>;
}
