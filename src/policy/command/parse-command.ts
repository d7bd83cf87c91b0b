import { bashReader } from './bash-reader.ts';
import { findPossibleCommands } from './find-possible-commands.ts';
import { quoteWords } from './quote-words.ts';
import { readSimpleCommands } from './read-simple-commands.ts';

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
  /**
   * Whatever in it may be a command, found leniently: in substitutions, behind `env` or `sudo`, in scripts for further
   * shells. `\0` stands for text that only the shell knows. For what forbids, never for what allows.
   */
  possibleCommands: readonly SimpleCommand[];
}

const SCRIPT_SHELLS: ReadonlySet<string> = new Set(
  ['bash', 'zsh', 'sh'].flatMap((name) => [
    name,
    `/bin/${name}`,
    `/usr/bin/${name}`,
    `/usr/local/bin/${name}`,
    `/opt/homebrew/bin/${name}`,
  ]),
);
const SCRIPT_OPTIONS: ReadonlySet<string> = new Set(['-c', '-lc', '-l\0-c']);
/** A longer one is not understood. */
const COMMAND_CHARS_MAX = 16 * 1024;

/** Reads what a command is. What cannot be understood is said to be so: nothing in a command makes it reject. */
export async function parseCommand(argv: readonly string[]): Promise<ParsedCommand> {
  const script = shellScript(argv);
  const text = script ?? quoteWords(argv);
  const length = argv.reduce((sum, word) => sum + word.length, 0);
  if (length > COMMAND_CHARS_MAX) return { argv, text, commands: null, possibleCommands: [{ words: ['\0', '\0'] }] };
  const readBash = bashReader();
  const commands = script === null ? plainCommand(argv) : await readSimpleCommands(script, readBash);
  const possibleCommands = await findPossibleCommands(script ?? argv, readBash);
  return { argv, text, commands: commands?.map(simple) ?? null, possibleCommands: possibleCommands.map(simple) };
}

function simple(words: readonly string[]): SimpleCommand {
  return { words };
}

/** The script that a shell is given; null where the command is not a shell with a script and nothing else. */
function shellScript(argv: readonly string[]): string | null {
  const [shell = '', ...rest] = argv;
  const script = rest.pop();
  return script !== undefined && SCRIPT_SHELLS.has(shell) && SCRIPT_OPTIONS.has(rest.join('\0')) ? script : null;
}

function plainCommand(argv: readonly string[]): readonly (readonly string[])[] | null {
  return argv.length === 0 || argv.some((word) => word.includes('\0')) ? null : [argv];
}
