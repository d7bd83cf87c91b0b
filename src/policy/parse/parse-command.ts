import { bashReader } from './bash-reader.ts';
import { findPossibleCommands } from './find-possible-commands.ts';
import { quoteWords } from './quote-words.ts';
import { readSimpleCommands } from './read-simple-commands.ts';
import { readTracedCommands } from './read-traced-commands.ts';
import type { SimpleCommand } from './simple-command.ts';

/** A parsed command. Pure data. */
export interface ParsedCommand {
  /** The program and its arguments. */
  argv: readonly string[];
  /** The text for people. For a shell with a script (`bash -lc …`), the script. */
  text: string;
  /**
   * Every simple command in it, in order. Null: a part of it cannot be parsed, so it may do
   * anything.
   */
  commands: readonly SimpleCommand[] | null;
  /**
   * Every part of it that may itself be a command: in substitutions, after `env` or `sudo`, in
   * scripts for further shells. `\0` stands for text that only the shell knows. Use it to forbid,
   * never to allow.
   */
  possibleCommands: readonly SimpleCommand[];
  /**
   * Every simple command that the shell runs, with `\0` for text that only the shell knows. Null:
   * the shell may run others. The programs themselves may start further ones.
   */
  tracedCommands: readonly SimpleCommand[] | null;
  /**
   * Whether it is a script that the parser does not understand completely, so parts of it may be
   * missing above.
   */
  hasErrors: boolean;
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
/** Longer commands are not parsed. */
const COMMAND_CHARS_MAX = 16 * 1024;

/**
 * Parses a command. Never rejects because of the command: parts that cannot be parsed are marked as
 * such.
 */
export async function parseCommand(argv: readonly string[]): Promise<ParsedCommand> {
  const script = shellScript(argv);
  const text = script ?? quoteWords(argv);
  const length = argv.reduce((sum, word) => sum + word.length, 0);
  if (length > COMMAND_CHARS_MAX)
    return {
      argv,
      text,
      commands: null,
      possibleCommands: [{ words: ['\0', '\0'] }],
      tracedCommands: null,
      hasErrors: true,
    };
  const readBash = bashReader();
  const commands =
    script === null ? plainCommand(argv) : await readSimpleCommands(script, readBash);
  const possibleCommands = await findPossibleCommands(script ?? argv, readBash);
  const traced = commands ?? (script === null ? null : await readTracedCommands(script, readBash));
  const hasErrors =
    traced === null &&
    script !== null &&
    (await readBash(script, (root) => root.hasError)) !== false;
  return {
    argv,
    text,
    commands,
    possibleCommands: possibleCommands.map((words) => ({ words })),
    tracedCommands: traced,
    hasErrors,
  };
}

/**
 * Returns the script of a shell command. Returns null unless the command is a shell with a script
 * and nothing else.
 */
function shellScript(argv: readonly string[]): string | null {
  const [shell = '', ...rest] = argv;
  const script = rest.pop();
  return script !== undefined && SCRIPT_SHELLS.has(shell) && SCRIPT_OPTIONS.has(rest.join('\0'))
    ? script
    : null;
}

function plainCommand(argv: readonly string[]): readonly SimpleCommand[] | null {
  return argv.length === 0 || argv.some((word) => word.includes('\0')) ? null : [{ words: argv }];
}
