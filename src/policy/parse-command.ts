/** One simple command of a line: its words as the shell would pass them on, quotes taken away. */
export interface SimpleCommand {
  words: readonly string[];
}

/** A command as far as it is understood. Pure data. */
export interface ParsedCommand {
  /** What is executed, word by word. */
  argv: readonly string[];
  /** What a person reads: of a shell with a script (`bash -lc …`), the script. */
  text: string;
  /** Every simple command of it, in order; null: something in it is not understood, so it may do anything. */
  commands: readonly SimpleCommand[] | null;
}
