import type { OutputReader } from './output-reader.ts';
import type { OutputStream, ProcessEnd, TerminalSize } from './processes.ts';

/** What is to be started, and how it is to be found again has been put in place. */
export interface Launch {
  /** Not empty. */
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** It finds these files open, from file descriptor 3 on. */
  files: readonly number[];
  onOutput: (stream: OutputStream, bytes: Buffer) => void;
}

/** How the program ended. */
export type ProgramEnd = Pick<ProcessEnd, 'exitCode'>;

/** A process as it was started: what it starts itself is not looked after yet. */
export interface StartedProcess {
  readonly pid: number;
  /** Resolves when the program has ended. Never rejects. */
  readonly exited: Promise<ProgramEnd>;
  readonly output: OutputReader;
  write(data: Buffer): Promise<void>;
  endInput(): void;
  resize(size: TerminalSize): void;
  /**
   * To be called when the program has ended: resolves when all that it wrote has been read, and gives up what comes later.
   * False: others still held its output open, and were waited for only a moment.
   */
  finish(): Promise<boolean>;
}
