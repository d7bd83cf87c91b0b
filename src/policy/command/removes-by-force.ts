import { INTERPRETERS } from './command-runners.ts';
import { FOUND_NAME } from './parse/decode-partial-word.ts';
import type { ParsedCommand } from './parse-command.ts';
import { programName } from './program-name.ts';

/** `grm` is the name of GNU's program on systems that have another one. */
const REMOVERS: ReadonlySet<string> = new Set(['rm', 'grm']);
/** Programs that give other programs words of their input. */
const READS_NAMES: ReadonlySet<string> = new Set(['xargs', 'parallel']);
/** Stands for text that only the shell knows, in the words of possible commands. */
const ANYTHING = '\0';
/** One-letter options together, with the `f` among them. */
const FORCES_SHORT = /^-[a-zA-Z]*f/;
/** The option and its abbreviations, which GNU's programs accept. */
const FORCES_LONG = /^--f(?:o(?:r(?:ce?)?)?)?(?:=|$)/;
/** Of an unknown program, only options that are all of `rm` count. */
const FORCES_AS_RM = /^-[diIrRvx]*f[dfiIrRvx]*$/;
/** Options of rm before or after other words, in text that is not read as a command. */
const IN_TEXT = /(?:^|[^\w.-])g?rm\b[^\n;|&]*?[\s,]-(?:[a-z]*f|-f)/i;

/**
 * Whether a command removes files by force, with `rm -f`, or may do so: also in shells, runners, substitutions and the code of
 * interpreters, and if it is uncertain whether a word of an `rm` is such an option. Words after `--` are no options.
 */
export function removesByForce({ commands, possibleCommands, text }: ParsedCommand): boolean {
  // The names that `find` gives a program begin with its starting point, others may be options.
  const findsNames = !possibleCommands.some(({ words: [program = ''] }) => READS_NAMES.has(programName(program)));
  const known = (words: readonly string[]) => (findsNames ? words.filter((word) => word !== FOUND_NAME) : words);
  if (possibleCommands.some(({ words }) => isForced(known(words)))) return true;
  // What is not read as commands may name the program and its options.
  const isOpaque = possibleCommands.some(
    ({ words: [program = ''] }) => program.includes(ANYTHING) || INTERPRETERS.test(programName(program)),
  );
  return (isOpaque || (commands === null && possibleCommands.length === 0)) && IN_TEXT.test(plain(text));
}

function isForced([program = '', ...args]: readonly string[]): boolean {
  const end = args.indexOf('--');
  const options = end === -1 ? args : args.slice(0, end);
  if (REMOVERS.has(programName(program)))
    return options.some((word) => FORCES_SHORT.test(word) || FORCES_LONG.test(word) || mayBeOption(word));
  return (
    program.includes(ANYTHING) &&
    mayBeRemover(programName(program)) &&
    options.some((word) => FORCES_AS_RM.test(word) || word === '--force')
  );
}

/** Whether the shell may make an option of a word. */
function mayBeOption(word: string): boolean {
  return word.startsWith(ANYTHING) || (word.startsWith('-') && word.includes(ANYTHING));
}

function mayBeRemover(name: string): boolean {
  const [start = '', ...rest] = name.split(ANYTHING);
  const end = rest.at(-1) ?? '';
  return [...REMOVERS].some((remover) => remover.startsWith(start) && remover.endsWith(end) && remover.length >= start.length + end.length);
}

/** Text without the quotes and backslashes that may stand in its words. */
function plain(text: string): string {
  return text.replace(/\\\n/g, '').replace(/['"\\]/g, '');
}
