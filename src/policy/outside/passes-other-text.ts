import { latePattern } from '../../base/text/late-pattern.ts';
import { startsNoOthers } from '../harmless/starts-no-others.ts';
import type { SimpleCommand } from '../parse/simple-command.ts';
import { programKind } from './program-kind.ts';

/**
 * The text that a command puts in a pipe or a file. `nothing`: none, or files as they are.
 * `content`: the content of files that it names, or of its input. `words`: its own words. `other`:
 * text that is neither, such as a list of files, or words put together.
 */
type Passed = 'nothing' | 'content' | 'words' | 'other';

/**
 * A word that is the same text for every language, if it is read as a script, except for
 * redirections that name no file.
 */
const plainWord = latePattern(
  () => /^(?:[\p{L}\p{N}\p{M} \t_./:=,+@%!-]|\d?>&\d|&?\d?> ?\/dev\/null)*$/u,
);

/** Whether a word is plain text: the same for every language, if it is read as a script. */
export function isPlainText(word: string): boolean {
  return plainWord().test(word);
}

/**
 * Programs that make, empty or remove what they name, or only wait: no content passes through them.
 */
export const PASSES_NOTHING: ReadonlySet<string> = new Set(
  'touch mkdir rm rmdir chmod cd true false : sleep'.split(' '),
);
const PASSES_CONTENT: ReadonlySet<string> = new Set(
  'cat cp mv ln tee head tail sort uniq cut tr nl wc sed'.split(' '),
);
/** Subcommands of git that change no files of the working tree. */
const KEEPS_FILES: ReadonlySet<string> = new Set(
  'add commit push fetch status branch tag remote rev-parse describe diff log show blame ls-files --version --help'.split(
    ' ',
  ),
);
/** Clients of repositories, in a word of a command. */
const REPOSITORY_CLIENT =
  /(?:^|[\s/])(?:git(?:-[a-z-]+)?|gh|glab|hg|svn|jj|bzr|fossil|darcs|cvs|p4)(?:\s|$)/;
const LOOP = /(?<![\w-])(?:for|while|until|select)(?![\w-])/;
/** Redirections that keep nothing, and `||`. */
const KEEPS_NOTHING = /\d*>&(?:\d+|-)|(?:\d*|&)>{1,2}[ \t]*\/dev\/null(?![\w/.])|\|\|/g;
const COMMENT = /(?<![^ \t\n;])#[^\n]*/g;
const PIPE_END = /\|&?\s*([^\s|;&<>()]*)/g;

/** Whether a command may run any file, or what it reads. */
export function mayRun({ words }: SimpleCommand): boolean {
  return programKind(words) === 'unknown' && !startsNoOthers(words);
}

/**
 * Whether a program of a line may run text that is neither in the line nor in a file that the line
 * names: what another one lists, puts together or gets from a repository. `text` is the line.
 */
export function passesOtherText(commands: readonly SimpleCommand[], text: string): boolean {
  const loops = LOOP.test(text);
  const inLine = /<</.test(text);
  return commands.some((command, index) => {
    if (!mayRun(command)) return false;
    const before = loops ? commands.filter((one) => one !== command) : commands.slice(0, index);
    const piped =
      command.pipedFrom === undefined || readsData(command)
        ? []
        : commands.slice(command.pipedFrom, index);
    const writers = before.filter(
      (one) =>
        one.writesFile || (one.pipedFrom !== undefined && programKind(one.words) !== 'looks'),
    );
    const written = writers.flatMap((one) =>
      commands.slice(one.pipedFrom ?? commands.indexOf(one), commands.indexOf(one) + 1),
    );
    return before.some(changesFiles) || isOther([...piped, ...written], inLine);
  });
}

/** Whether an interpreter runs a module or a file, so that its input is no code. */
function readsData({ words: [program = '', first = '-', second = '-'] }: SimpleCommand): boolean {
  return (
    /^(?:python[23]?|node|perl|ruby|php)$/.test(program) &&
    !(first === '-m' ? second : first).startsWith('-')
  );
}

/** The same for commands whose order and pipes are not known. */
export function mayPassOtherText(possible: readonly SimpleCommand[], text: string): boolean {
  const rest = (text.includes('<<') ? text : text.replace(COMMENT, '')).replace(KEEPS_NOTHING, ' ');
  const running = possible.filter(mayRun);
  if (possible.some(changesFiles)) return true;
  if (!/[|>]|<[<(]/.test(rest)) return false;
  const isInto = (program: string) =>
    !(PASSES_CONTENT.has(program) || program === 'grep') ||
    running.some(({ words }) => words[0] === program);
  const reachesProgram =
    />|<[<(]/.test(rest) ||
    [...rest.matchAll(PIPE_END)].some(([, program = '']) => isInto(program));
  const others = possible.filter((one) => !mayRun(one));
  return reachesProgram && (running.length > 1 || isOther(others, /<</.test(rest)));
}

function isOther(sources: readonly SimpleCommand[], inLine: boolean): boolean {
  const passed = new Set(sources.map(passedBy));
  const hasWords = passed.has('words') || (inLine && sources.length > 0);
  // Words that go through another program may be changed there, and words between contents may join
  // them.
  return passed.has('other') || (hasWords && passed.has('content'));
}

function passedBy(command: SimpleCommand): Passed {
  const [program = '', ...args] = command.words;
  if (PASSES_NOTHING.has(program)) return 'nothing';
  if (mayRun(command)) return 'other';
  if (program === 'echo')
    return args[0]?.startsWith('-') || !args.every((arg) => isPlainText(arg)) ? 'other' : 'words';
  if (program === 'grep')
    return args.some((arg) => /^-[a-zA-Z]*[rRd]|^--/.test(arg)) ? 'other' : 'content';
  return PASSES_CONTENT.has(program) ? 'content' : 'other';
}

/**
 * Whether a command may put files in place that heddle does not compare: those of a repository.
 * What other programs make of files that are compared belongs to the line.
 */
function changesFiles({ words }: SimpleCommand): boolean {
  const [program, subcommand = ''] = words;
  return program === 'git'
    ? !KEEPS_FILES.has(subcommand)
    : mayRun({ words }) && words.some((word) => REPOSITORY_CLIENT.test(word));
}
