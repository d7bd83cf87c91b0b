import { COMMAND_NAMES, type CommandName } from './commands.ts';
import { commandNamed } from './named-command.ts';
import { readLeniently } from './read-options.ts';
import { UsageError } from './usage-error.ts';

/**
 * The text of an error about a command line, for a person: an option at its beginning, or behind
 * its command, is named as it was typed, `-C` or `--cd`. A UsageError names the help of the command
 * too.
 */
export function describeProblem(error: Error, argv: readonly string[]): string {
  const { words, typed } = readLeniently(argv);
  const message = error.message.replace(
    /(?<=^(?:[a-z-]+: )?)(?:--[\w-]+|-\w)(?![\w-])/,
    (option) => typed(option) ?? option,
  );
  return error instanceof UsageError
    ? `${message} (see ${JSON.stringify(helpAbout(words))})`
    : message;
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
