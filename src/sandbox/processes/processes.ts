import type { SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import type { CommandServer } from '../sandbox.ts';
import type { ServerProgram } from '../server-programs/server-program.ts';

export interface TerminalSize {
  rows: number;
  cols: number;
}

/** A process to start. */
export interface ProcessSpec {
  /**
   * The program and its arguments. Not empty. A program without a slash is searched in the PATH of
   * `env`.
   */
  argv: readonly string[];
  /** The absolute path of the working directory. */
  cwd: string;
  /**
   * A path that leads to that directory even if another one now has its name. Absent: `cwd`. Only
   * without bounds.
   */
  pinnedCwd?: string;
  /** The complete environment. The server's own is not inherited. */
  env: Readonly<Record<string, string>>;
  /** Null: it runs with the rights of the server. */
  bounds: SandboxBounds | null;
  /**
   * The purpose for which the server starts it. It is refused if commands may have written what it
   * runs. One that is configured is asked to end before it is killed, because it may hold locks of
   * the user. Only without bounds. Absent: unchecked. `argv`: the part of its words that the
   * configuration has, if others are data. Absent: all.
   */
  startedFor?: Pick<ServerProgram, 'of' | 'kind'> & Partial<Pick<ServerProgram, 'argv'>>;
  /**
   * Called before it is killed because a command is about to start that could write what it has
   * still to read. It is not started while such a command runs. Only with `startedFor`. Absent:
   * what it runs counts only at its start.
   */
  onExposed?: () => void;
  /** Serves its connections to its proxy. Required by bounds with `managedNetwork`. */
  serve?: CommandServer;
  /** Ends the wait for what its sandbox needs. It is not started then. */
  signal?: AbortSignal;
  /**
   * The owner, outermost part first, such as thread, turn and call. Words without slashes or
   * spaces.
   */
  owner: readonly string[];
  /**
   * Whether it has an input to write to. If false, its input is empty. A terminal always has an
   * input.
   */
  input: boolean;
  /** Null: its output is read through pipes. */
  terminal: TerminalSize | null;
  /**
   * Whether similar processes may follow soon, until `tidy`. What their sandbox needs is kept for a
   * moment.
   */
  moreFollow?: boolean;
  /**
   * True: what it writes to stderr is output of `stdout` too, in the order in which it writes. Only
   * where pipes can be made.
   */
  joinsOutput?: boolean;
  /**
   * It ends if it takes more memory than this. Only without bounds. Absent: no limit of its own.
   */
  memoryBytesMax?: number;
  /** True: it does not keep this process alive, if its output is read through pipes. */
  isBackground?: boolean;
}

export type OutputStream = 'stdout' | 'stderr';

/** How a process ended. If a signal ended it, `exitCode` is 128 plus the number of the signal. */
export interface ProcessEnd {
  exitCode: number;
  /** False if other processes still held its output open, so that the end of it may be missing. */
  allRead: boolean;
}

/** A started process, together with the processes that it starts. */
export interface RunningProcess {
  readonly pid: number;
  /**
   * Resolves when the program has ended and its output has been read. Waits only a moment for other
   * processes that still hold the output open. Never rejects.
   */
  readonly ended: Promise<ProcessEnd>;
  /** Resolves when the data is written, or the process no longer reads it. */
  write(data: Buffer): Promise<void>;
  /** Closes its input. In a terminal, sends the end-of-file character. */
  endInput(): void;
  /** Does nothing without a terminal. */
  resize(size: TerminalSize): void;
  /**
   * Stops reading its output until `resume`. The process blocks when the buffer of its output is
   * full.
   */
  pause(): void;
  resume(): void;
  /**
   * Says that a caller waits for its output and its end: `waitMs` at most, and no longer than until
   * the returned function is called. Changes nothing, unless something decides about the order in
   * which processes are heard.
   */
  attend(waitMs: number): () => void;
  /**
   * Returns null while the program or a process below it works. If all of them wait for something,
   * returns their names, which are other ones if a process ended or began.
   */
  waiting(): Promise<string | null>;
  /**
   * Interrupts it as Ctrl-C does: in a terminal by that key, otherwise by SIGINT to the processes
   * of its session, and not to those that confine it. Resolves when that is sent. Never rejects.
   */
  interrupt(): Promise<void>;
  /** Sends SIGTERM to the same processes. Resolves when it is sent. Never rejects. */
  terminate(): Promise<void>;
  /**
   * Kills it and all that it started, even what left its group, session or parent. Resolves when
   * nothing is left. Never rejects.
   */
  kill(): Promise<void>;
}

/**
 * Starts processes, and confines those with bounds. All processes end with the server, even if the
 * server is killed.
 */
export interface Processes {
  /**
   * Rejects with a `SandboxUnavailableError` if there is no working sandbox for the bounds, and
   * with a `ProcessStartError` if the program or the folder does not exist or cannot be used. All
   * output of a terminal is `stdout`. The bytes are valid only until `onOutput` returns.
   */
  start(
    spec: ProcessSpec,
    onOutput: (stream: OutputStream, bytes: Buffer) => void,
  ): Promise<RunningProcess>;
  /**
   * Begins to prepare what processes with these bounds will need, if that takes longer than
   * starting one. Never rejects.
   */
  prepare(bounds: SandboxBounds): Promise<void>;
  /**
   * Kills all processes that were started for this owner, including those that outlived their
   * command.
   */
  killOwned(owner: readonly string[]): Promise<void>;
  /**
   * Removes what is kept in workspaces for processes that may follow. `start` does so before a
   * process without bounds. Never rejects.
   */
  tidy(): Promise<void>;
  /** Kills all processes. After that, `start` rejects. */
  close(): Promise<void>;
}

/** The program cannot be started. The message is for the model or the user. */
export class ProcessStartError extends Error {}

/** The program is not started, because commands in the sandbox may have written what it runs. */
export class ChangedProgramError extends ProcessStartError {}

/** The message of a `ProcessStartError` after `close`. */
export const SERVER_ENDING = 'the server is ending and starts no more processes';

/** There is no working sandbox. The message says what is missing and how to get it. */
export class SandboxUnavailableError extends Error {}
