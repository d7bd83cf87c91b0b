import type { SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';

export interface TerminalSize {
  rows: number;
  cols: number;
}

/** A process to start. */
export interface ProcessSpec {
  /** The program and its arguments; not empty. A program without a slash is looked for in the PATH of `env`. */
  argv: readonly string[];
  /** Absolute. */
  cwd: string;
  /** All of it: nothing is inherited. */
  env: Readonly<Record<string, string>>;
  /** Null: it runs with all the rights of the server. */
  bounds: SandboxBounds | null;
  /** Whom it runs for, outermost first, such as thread, turn and call: words without a slash or a blank. */
  owner: readonly string[];
  /** Whether it can be written to; without, its input is empty. A terminal always can. */
  input: boolean;
  /** Null: its output comes through pipes. */
  terminal: TerminalSize | null;
}

export type OutputStream = 'stdout' | 'stderr';

/** How a process ended. Of one that a signal ended, `exitCode` is 128 and the signal's number. */
export interface ProcessEnd {
  exitCode: number;
  /** False: others still held its output open, and were waited for only a moment. */
  allRead: boolean;
}

/** A process that was started, and all that it starts. */
export interface RunningProcess {
  readonly pid: number;
  /**
   * Resolves when the program has ended and its output has been read. What else still holds its output open is waited for
   * only a moment. Never rejects.
   */
  readonly ended: Promise<ProcessEnd>;
  /** Resolves when the process has taken it, or is gone. */
  write(data: Buffer): Promise<void>;
  /** Ends its input; of a terminal, says that it ended. */
  endInput(): void;
  /** Does nothing without a terminal. */
  resize(size: TerminalSize): void;
  /** Stops reading its output, so that it waits, until `resume`. */
  pause(): void;
  resume(): void;
  /** Kills it and all that it started, also what left its group, session or parent. Resolves when nothing is left of it. Never rejects. */
  kill(): Promise<void>;
}

/** Starts processes, confined where they have bounds, and leaves none behind: they end with the server, however that ends. */
export interface Processes {
  /**
   * Rejects with a `SandboxUnavailableError` where the bounds cannot be kept, which say what is missing and how to get it, and
   * with a `ProcessStartError` where there is no such program or folder. A terminal's output is all `stdout`. What `onOutput` is
   * given holds only until it returns.
   */
  start(spec: ProcessSpec, onOutput: (stream: OutputStream, bytes: Buffer) => void): Promise<RunningProcess>;
  /** Kills all that was started for this owner, and what outlived it. */
  killOwned(owner: readonly string[]): Promise<void>;
  /** Kills everything; nothing can be started any more. */
  close(): Promise<void>;
}

/** The program could not be started. The message is for the model or the user. */
export class ProcessStartError extends Error {}

/** The sandbox cannot be had. The message says what is missing and how to get it. */
export class SandboxUnavailableError extends Error {}
