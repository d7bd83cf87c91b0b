import { INTERPRETERS } from '../parse/command-runners.ts';
import type { ParsedCommand } from '../parse/parse-command.ts';
import { programName } from '../parse/program-name.ts';

/**
 * How sure it is that a command removes files by force. `certain`: an `rm` has the option.
 * `possible`: the line has such an option, and heddle cannot tell whether an `rm` gets it.
 * `unlikely`: an `rm` gets words that only the shell knows, and one of them would have to be an
 * option, as in a folder with a file called `-rf`.
 */
export type Force = 'certain' | 'possible' | 'unlikely';

/** `grm` is the name of GNU's program on systems that have another one. */
const REMOVERS: ReadonlySet<string> = new Set(['rm', 'grm']);
/**
 * Programs with a subcommand `rm`, or that print their words. Behind `sudo`, each word may begin a
 * command, also their `rm -f`.
 */
const OTHERS_WITH_RM: ReadonlySet<string> = new Set(
  'aws brew bun conda docker docker-compose echo git grep gsutil hg jj nerdctl npm pnpm podman printf svn yarn'.split(
    ' ',
  ),
);
/** Subcommands of these that run the words behind them. */
const RUNS_WORDS = /^(?:foreach|run|exec)$/;
/** Stands for text that only the shell knows, in the words of possible commands. */
const ANYTHING = '\0';
/** One-letter options together, with the `f` among them. */
const FORCES_SHORT = /^-[a-zA-Z]*f/;
/** The option and its abbreviations, which GNU's programs accept. */
const FORCES_LONG = /^--f(?:o(?:r(?:ce?)?)?)?(?:=|$)/;
/** Of an unknown program, only options that are all of `rm` count. */
const FORCES_AS_RM = /^-[diIrRvx]*f[dfiIrRvx]*$/;
/**
 * A word that the shell may expand into an option: it has no other letters than options, and no `/`
 * or `.`.
 */
const OPTION_LETTERS = /^[\0dfiIrRvxoce,-]*$/;
/** `rm` as a word of text that is not read as a command. */
const REMOVER_IN_TEXT = /(?<![\w.-])g?rm(?![\w.-])/i;
const OPTION_BEHIND = /[\s,[(]-(?:[a-z]*f|-f)/i;
/** An option of `rm` anywhere in a line. `-xf` is mostly that of `tar`. */
const OPTION_IN_LINE = /(?<!\w)-(?:[diIrRv]*f[dfiIrRv]*|-f(?:o(?:r(?:ce?)?)?)?)(?![\w-])/;
/**
 * The texts that a line gives to variables: assignments, substitutions, the words of loops, up to
 * the end of the statement.
 */
const VALUES = /(?:=|\$\(|`|\b(?:in|set)\s)(?:"[^"]*"|'[^']*'|[^\n;|&"'])*/g;
const PIPE = /(?<!\|)\|&?(?!\|)/;

/**
 * Whether a command removes files by force, with `rm -f`: also in shells, runners, substitutions
 * and the code of interpreters. Null: it does not. Words after `--` are no options. Neither are
 * words that only the shell knows in part, if the rest fits no option (`~/x`, `"$HOME/x"`, `*.o`,
 * `{a,b}`).
 */
export function removesByForce(command: ParsedCommand): Force | null {
  const { commands, possibleCommands, text } = command;
  const line = withoutQuotes(text);
  const withRm = possibleCommands
    .map(({ words }) => words)
    .filter(([program = '']) => OTHERS_WITH_RM.has(programName(program)));
  const found = possibleCommands.map(({ words }) => {
    const force = forceOf(words, line);
    return force === 'certain' && withRm.some((other) => isSubcommand(words, other))
      ? 'possible'
      : force;
  });
  if (found.includes('certain')) return 'certain';
  const isUnread = commands === null && possibleCommands.length === 0;
  if (found.includes('possible') || (isUnread && isNamedIn(text))) return 'possible';
  if (possibleCommands.some(({ words }) => isOpaque(words) && mayRunText(words, text)))
    return 'possible';
  return found.includes('unlikely') ? 'unlikely' : null;
}

function forceOf([program = '', ...args]: readonly string[], line: string): Force | null {
  const end = args.indexOf('--');
  const options = end === -1 ? args : args.slice(0, end);
  const name = programName(program);
  if (REMOVERS.has(name)) {
    if (
      options.some(
        (word) => !word.includes(ANYTHING) && (FORCES_SHORT.test(word) || FORCES_LONG.test(word)),
      )
    )
      return 'certain';
    const open = options.filter(mayBeOption);
    if (open.length === 0) return null;
    return OPTION_IN_LINE.test(line) || open.some((word) => word.includes('-'))
      ? 'possible'
      : 'unlikely';
  }
  const mayForce =
    program.includes(ANYTHING) &&
    options.some((word) => FORCES_AS_RM.test(word) || FORCES_LONG.test(word));
  return mayForce && mayBeRemover(name, line) ? 'possible' : null;
}

/**
 * Whether the words of a possible command are the last ones of another program, and so perhaps its
 * subcommand.
 */
function isSubcommand(words: readonly string[], other: readonly string[]): boolean {
  const begin = other.length - words.length;
  return (
    begin > 0 &&
    !other.slice(1, begin).some((word) => RUNS_WORDS.test(word)) &&
    words.every((word, at) => word === other[begin + at])
  );
}

/** Whether the shell may make an option of a word. A list in braces needs a `-` for that. */
function mayBeOption(word: string): boolean {
  if (!word.includes(ANYTHING)) return false;
  return (
    word.startsWith('-') ||
    (word.startsWith(ANYTHING) &&
      OPTION_LETTERS.test(word) &&
      (!word.includes(',') || word.includes('-')))
  );
}

/**
 * Whether a name that only the shell knows may be that of `rm`. If nothing of it is known, the line
 * must have the name elsewhere.
 */
function mayBeRemover(name: string, line: string): boolean {
  const [start = '', ...rest] = name.split(ANYTHING);
  const end = rest.at(-1) ?? '';
  if (start === '' && end === '') return REMOVER_IN_TEXT.test(line);
  return [...REMOVERS].some(
    (remover) =>
      remover.startsWith(start) &&
      remover.endsWith(end) &&
      remover.length >= start.length + end.length,
  );
}

/** Whether a command may run text that is not read as commands. */
function isOpaque([program = '']: readonly string[]): boolean {
  return program.includes(ANYTHING) || INTERPRETERS.test(programName(program));
}

/**
 * Whether the text that such a command may run names a forced removal: its words, what variables in
 * them may be, its input.
 */
function mayRunText(words: readonly string[], text: string): boolean {
  const isInput =
    text.includes('<<') ||
    (words.slice(1).every((word) => word.startsWith('-')) && isPipedTo(words, text));
  // Two unknown words may stand for a command that was too large to read.
  if (isInput || words.every((word) => word === ANYTHING)) return isNamedIn(text);
  if (isNamedIn(words.join(' '))) return true;
  return (
    words.some((word) => word.includes(ANYTHING)) && (text.match(VALUES) ?? []).some(isNamedIn)
  );
}

/** Whether a line has a pipe into a program, or into one that only the shell knows. */
function isPipedTo([program = '']: readonly string[], text: string): boolean {
  const ends = withoutQuotes(text).split(PIPE).slice(1);
  if (program.includes(ANYTHING)) return ends.length > 0;
  return ends.some((end) =>
    (/^[^;&\n]*/.exec(end)?.[0] ?? '')
      .split(/\s+/)
      .some((word) => programName(word) === programName(program)),
  );
}

/** Whether a statement in a text has `rm` and behind it an option that forces. */
function isNamedIn(text: string): boolean {
  return withoutQuotes(text)
    .split(/[\n;|&]/)
    .some((statement) => {
      const at = statement.search(REMOVER_IN_TEXT);
      return at !== -1 && OPTION_BEHIND.test(statement.slice(at));
    });
}

/** Text without the quotes and backslashes that may stand in its words. */
function withoutQuotes(text: string): string {
  return text.replace(/\\\n/g, '').replace(/['"\\]/g, '');
}
