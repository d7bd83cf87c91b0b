import { latePattern } from '../../base/text/late-pattern.ts';
import { INTERPRETERS } from '../parse/command-runners.ts';
import type { ParsedCommand } from '../parse/parse-command.ts';
import { programName } from '../parse/program-name.ts';
import type { SimpleCommand } from '../parse/simple-command.ts';
import {
  isPlainText,
  mayPassOtherText,
  mayRun,
  PASSES_NOTHING,
  passesOtherText,
} from './passes-other-text.ts';
import { programKind } from './program-kind.ts';

/** The characters that separate words in an unparsed script. */
export const BETWEEN = /[\s;|&<>(){}[\]'"`$\\=,:]+/;

/** The words of a line that may name files. */
export interface LineWords {
  /** Its commands, in order. */
  commands: readonly SimpleCommand[];
  /** Whether one of the programs is not known, so it may run what another one reads or writes. */
  mayRunAll: boolean;
  /** Words that are no words of its commands, such as those of redirections. */
  others: readonly string[];
  /** Words of code, such as those of scripts for further shells, for each command in it. */
  code: readonly (readonly string[])[];
  /**
   * Whether these are all words that it may run files by. If not, it may also run files that it
   * does not name in full.
   */
  areAll: boolean;
}

/** Returns the words of a line that may name files. */
export function lineWords(command: ParsedCommand): LineWords {
  const { text, possibleCommands, hasErrors } = command;
  const commands = understood(command);
  if (commands === null) {
    const words = hasErrors ? null : plainWords(text);
    const areAll =
      words !== null &&
      !possibleCommands.some(isUncertain) &&
      !FINDING.test(text) &&
      !mayPassOtherText(possibleCommands, text);
    return {
      commands: [],
      mayRunAll: true,
      others: [],
      code: [words ?? text.split(BETWEEN)],
      areAll,
    };
  }
  // Files of redirections and here-documents are not words of a command.
  const script = command.commands === null ? text : '';
  const known = commands.filter(({ words }) => programKind(words) !== 'unknown');
  const others = script.split(BETWEEN);
  if (known.length === commands.length)
    return { commands, mayRunAll: false, others, code: [], areAll: true };
  const plain = plainWords(
    script,
    new Set(commands.filter((one) => !mayRun(one)).flatMap(({ words }) => words)),
  );
  const areAll =
    plain !== null &&
    !commands.some(isUncertain) &&
    !possibleCommands.some(hasUnknown) &&
    !passesOtherText(commands, text) &&
    !(UNORDERED.test(script) && mayPassOtherText(possibleCommands, text));
  // Further shells read the words of their scripts without quotes.
  const code = possibleCommands
    .map(({ words }) => words)
    .filter(([program = '']) => !PASSES_NOTHING.has(program));
  return { commands, mayRunAll: true, others: plain ?? others, code, areAll };
}

/**
 * The simple commands of a line whose words are all known. Null: a word is known to the shell only,
 * or the shell may run other commands.
 */
function understood({ commands, tracedCommands }: ParsedCommand): readonly SimpleCommand[] | null {
  const all = commands ?? tracedCommands;
  return all?.some(hasUnknown) === false ? all : null;
}

function hasUnknown({ words }: SimpleCommand): boolean {
  return words.some((word) => word.includes('\0'));
}

/** Syntax whose commands read and write each other in another order than that of the line. */
const UNORDERED = /[<>]\(|<<[^<][\s\S]*\|/;

/**
 * Quoted text that a shell takes literally, as a whole word or as the value of an assignment or an
 * option.
 */
const QUOTED = /(?<=[ \t\n=<>]|^)(?:'[^']*'|"[^"$`\\!]*")(?=[ \t\n;|&)]|$)/g;
/**
 * Text without quotes in which a shell replaces nothing, also with the patterns of bash (`@(x|y)`)
 * and zsh (`(x|y).sh`, `<1-9>`).
 */
const plainText = latePattern(
  () =>
    /^(?:[\p{L}\p{N}\p{M} \t\n_./:=,+@%;|&<>-]|(?<![^ \t\n;|&(<>])\(|\)(?![^ \t\n;|&)<>])|(?<![^ \t\n;])#)*$/u,
);
const NUMBERS_OF_ZSH = /<\d*-\d*>/;
/** In a comment or a here-document, a quote begins no quoted text. */
const NO_QUOTES = /#|<<(?!<)/;
/**
 * The words of a script, whatever they mean in it. Null: a shell may replace some of them.
 * `harmless`: words of programs that run no scripts.
 */
function plainWords(text: string, harmless: ReadonlySet<string> = new Set()): string[] | null {
  const quoted: string[] = [];
  const rest = text.replace(QUOTED, (word) => {
    quoted.push(word.slice(1, -1));
    return ' ';
  });
  if (
    !plainText().test(rest) ||
    NUMBERS_OF_ZSH.test(rest) ||
    (quoted.length > 0 && NO_QUOTES.test(text))
  )
    return null;
  if (quoted.some((word) => !isPlainText(word) && !harmless.has(word))) return null;
  return [
    ...quoted,
    ...[...quoted, rest].flatMap((part) => [
      ...part.split(BETWEEN),
      ...part.split(/[ \t\n;|&<>()]+/),
    ]),
  ];
}

/**
 * Whether a command may run what its words do not name in full: it finds it, or its words are code
 * with a meaning of their own.
 */
function isUncertain(command: SimpleCommand): boolean {
  const { words } = command;
  if (hasUnknown(command)) return true;
  return (
    mayRun(command) &&
    (runsWhatItFinds(words) || words.some((word) => !isLiteral(words, word)) || hasCode(words))
  );
}

/** Programs that take addresses and texts, which are no scripts. */
const TAKE_TEXTS: ReadonlySet<string> = new Set(['curl', 'wget']);

function isLiteral([program = '']: readonly string[], word: string): boolean {
  return isPlainText(word) || TAKE_TEXTS.has(program);
}

/** The options before code. */
const CODE = /^(?:-[a-zA-Z]*[ceE]|--(?:eval|exec|command|execute)(?:=|$)|eval$)(.*)$/s;

/**
 * Whether an interpreter of another language than that of shells gets code in its words, and not
 * only a number or a name.
 */
function hasCode(words: readonly string[]): boolean {
  const at = words.findIndex((word) => INTERPRETERS.test(programName(word)));
  if (at === -1) return false;
  return words.slice(at + 1).some((word, index, all) => {
    const [, glued = null] = CODE.exec(word) ?? [];
    return glued !== null && !/^\w*$/.test(glued === '' ? (all[index + 1] ?? '') : glued);
  });
}

const FINDING = /(?<![\w-])(?:xargs|parallel)(?![\w-])/i;
const FINDERS: ReadonlySet<string> = new Set(['find', 'fd', 'fdfind']);
/** The options with which these start a program. */
const FINDS_FOR = /^-(?:exec|execdir|ok|okdir|x|X)$|^--exec/;
/** The beginning of an option, whose value may be a folder to work in. */
export const OPTION = /^--?[A-Za-z]/;

/**
 * Whether a command starts a program with files that it finds or reads from its input: the line
 * does not name them.
 */
function runsWhatItFinds(words: readonly string[]): boolean {
  const names = words.map(programName);
  return (
    names.some((name) => name === 'xargs' || name === 'parallel') ||
    (names.some((name) => FINDERS.has(name)) && words.some((word) => FINDS_FOR.test(word)))
  );
}
