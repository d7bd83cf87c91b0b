import { ScriptError } from '../../model/script/script-error.ts';
import { commandNamed } from './command-named.ts';
import { COMMAND_NAMES, type CommandName } from './commands.ts';
import { OptionError } from './option-error.ts';
import { readLeniently } from './read-options.ts';
import { UsageError } from './usage-error.ts';

/**
 * The text of an error for a person. If it is about this command line, an option at its beginning,
 * or behind its command, is named as it was typed: `-C` or `--cd`. A UsageError names the help of
 * the command too.
 */
export function describeProblem(error: unknown, argv: readonly string[]): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof UsageError || error instanceof OptionError)) return error.message;
  const { words, typed } = readLeniently(argv);
  const message = error.message.replace(
    /(?<=^(?:[a-z-]+: )?)(?:--[\w-]+|-\w)(?![\w-])/,
    (option) => typed(option) ?? option,
  );
  return error instanceof UsageError
    ? `${message} (see ${JSON.stringify(helpAbout(words))})`
    : message;
}

/** Whether the command line, or a file that it names, is the reason of an error. */
export function isOfCommandLine(error: unknown): boolean {
  return [UsageError, OptionError, ScriptError].some((kind) => error instanceof kind);
}

/** The command line that prints the help about these words. */
function helpAbout(words: readonly string[]): string {
  const [first, ...others] = words;
  const name = first === 'help' ? knownCommand(others) : knownCommand(words);
  // "heddle help help" would print nothing about the command that help was asked for.
  return name === null || name === 'app-server' || name === 'help'
    ? 'heddle --help'
    : `heddle help ${name}`;
}

function knownCommand(words: readonly string[]): CommandName | null {
  const named = commandNamed(words);
  return COMMAND_NAMES.find((name) => name === named) ?? null;
}
