/** One simple command of a line: its words as the shell passes them on, without quotes. */
export interface SimpleCommand {
  words: readonly string[];
  /**
   * If it reads a pipe: the index of the first command that writes into the pipe. The last one is
   * the one before it.
   */
  pipedFrom?: number;
  /** Whether its output goes to a file. */
  writesFile?: true;
}
