import type { ParsedCommand, SimpleCommand } from '../command/parse-command.ts';
import { programName } from '../command/program-name.ts';
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
  /** Whether these are all files that it may run. If not, it may also run files that it does not name in full, or in other folders. */
  areAll: boolean;
}

/** Returns the words of a line that may name files. */
export function lineWords(command: ParsedCommand): LineWords {
  const { text, possibleCommands } = command;
  const commands = understood(command);
  if (commands === null) {
    const words = MOVING.test(text) ? null : plainWords(text);
    return { commands: [], mayRunAll: true, others: [], code: [words ?? text.split(BETWEEN)], areAll: words !== null };
  }
  // Files of redirections and here-documents are not words of a command.
  const script = command.commands === null ? text : '';
  const known = commands.filter(({ words }) => programKind(words) !== 'unknown');
  const others = script.split(BETWEEN);
  if (known.length === commands.length) return { commands, mayRunAll: false, others, code: [], areAll: true };
  const plain = plainWords(script, new Set(known.flatMap(({ words }) => words)));
  const mayMove = commands.some(({ words }) => movesFolders(words) || runsWhatItFinds(words)) || hasUncertain(possibleCommands, commands);
  // Further shells read the words of their scripts without quotes.
  const code = possibleCommands.map(({ words }) => words).filter(([program = '']) => !PASSES_NOTHING.has(program));
  return { commands, mayRunAll: true, others: plain ?? others, code, areAll: plain !== null && !mayMove };
}

/** The simple commands of a line whose words are all known. Null: a word is known to the shell only, or the shell may run other commands. */
function understood({ commands, tracedCommands }: ParsedCommand): readonly SimpleCommand[] | null {
  const all = commands ?? tracedCommands;
  return all?.every(({ words }) => words.every((word) => !word.includes('\0'))) ? all : null;
}

/** Quoted text that a shell takes literally, as a whole word or as the value of an assignment or an option. */
const QUOTED = /(?<=[\s=<>]|^)(?:'[^']*'|"[^"$`\\!]*")(?=[\s;|&)]|$)/g;
/** Text without quotes in which a shell replaces nothing. */
const PLAIN = /^[\w\s./:=,+@%#;|&<>()-]*$/;
/** Programs that change the folder, or the meaning of names. */
const MOVERS: ReadonlySet<string> = new Set(['cd', 'pushd', 'popd', 'chdir', 'eval', 'alias']);
/** A script with such words may find the files that it names in other folders. */
const MOVING = new RegExp(`(?<![\\w./-])(?:${[...MOVERS].join('|')}|CDPATH|PATH)(?![\\w./-])`);
/** The beginning of an option, whose value may be a folder to work in. */
export const OPTION = /^--?[A-Za-z]/;

/** What a shell replaces or looks up, if quoted text is a script for it. */
const UNCERTAIN = /[$`*?[{~\\]/;

/**
 * The words of a script, whatever they mean in it. Null: a shell may replace some of them. `harmless`: words of programs that run no
 * scripts.
 */
function plainWords(text: string, harmless: ReadonlySet<string> = new Set()): string[] | null {
  const quoted: string[] = [];
  const rest = text.replace(QUOTED, (word) => {
    quoted.push(word.slice(1, -1));
    return ' ';
  });
  if (!PLAIN.test(rest) || quoted.some((word) => UNCERTAIN.test(word) && !harmless.has(word))) return null;
  return [...quoted, ...[...quoted, rest].flatMap((part) => [...part.split(BETWEEN), ...part.split(/[\s;|&<>()]+/)])];
}

/** Programs that make, empty or remove what they name: no content passes through them. */
export const PASSES_NOTHING: ReadonlySet<string> = new Set(['touch', 'mkdir', 'rm', 'rmdir', 'chmod']);

/** Whether a command puts a whole folder, whose files are not compared, in another place. */
function movesFolders([program = '', ...args]: readonly string[]): boolean {
  if (program === 'mv' || program === 'ln') return true;
  return program === 'cp' && args.some((arg) => /^-[a-zA-Z]*[rRa]|^--(?:recursive|archive)/.test(arg));
}

/** Whether a command starts a program with files that it finds or reads from its input: the line does not name them. */
function runsWhatItFinds(words: readonly string[]): boolean {
  const names = words.map(programName);
  return (
    names.some((name) => name === 'xargs' || name === 'parallel') ||
    (names.some((name) => FINDERS.has(name)) && words.some((word) => FINDS_FOR.test(word)))
  );
}

const FINDERS: ReadonlySet<string> = new Set(['find', 'fd', 'fdfind']);
/** The options with which these start a program. */
const FINDS_FOR = /^-(?:exec|execdir|ok|okdir|x|X)$|^--exec/;

/**
 * Whether one of the possible commands has a word that only the shell knows, or changes the folder although it is none of the `known`
 * commands of the line: then it is in a script for another shell.
 */
function hasUncertain(possible: readonly SimpleCommand[], known: readonly SimpleCommand[]): boolean {
  const changes = new Set(known.map(({ words }) => words.join('\0')));
  return possible.some(({ words }) => {
    const [program = ''] = words;
    return words.some((word) => word.includes('\0')) || (MOVERS.has(program) && !(program === 'cd' && changes.has(words.join('\0'))));
  });
}
