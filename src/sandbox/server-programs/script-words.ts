import { CODE_SOURCES } from '../../policy/outside/code-sources.ts';
import { INTERPRETERS, SHELLS } from '../../policy/parse/command-runners.ts';

/** Programs whose first argument is a script. */
const INTERPRETER =
  /^(?:\.|source|elixir|java|julia|lua|luajit|node|perl|php|pwsh|pypy|python|rscript|ruby|ts-node|tsx)[\d.]*$/;
/** Options of these after which code or the name of a module follows. */
const INLINE = /^(?:-[A-Za-z]*[cemp]|--(?:command|eval|module|print))$/;
/** Commands of package managers after which a script may follow. */
const RUN = /^(?:run|exec|x)$/;
const SCRIPT_ENDS =
  '[cm]?[jt]sx?|py|rb|pl|php|lua|ps1|sh|bash|zsh|fish|r|jl|exs?|awk|sed|tcl|groovy|kts|mk|el|scm|lisp';
/** The ends of files that a runtime or a program loads as code. */
const COMPILED_ENDS = 'jar|war|class|phar|wasm|dll|exe|so|dylib|node';
const SCRIPT_NAME = new RegExp(`\\.(?:${SCRIPT_ENDS}|${COMPILED_ENDS})$`, 'i');
/** Words that are no paths: patterns, addresses and texts. */
const NO_PATH = /[*?{\s]|:\/\//;

/**
 * Returns the words of a command that name a script, whether it exists or not. `program` is its
 * name without a folder.
 */
export function scriptWords(program: string, args: readonly string[]): string[] {
  const isInterpreter = INTERPRETER.test(program) || SHELLS.has(program);
  if (!isInterpreter && CODE_SOURCES.get(program)?.runsScripts !== true) return [];
  const operands = args.flatMap((word) =>
    word.startsWith('-') ? (/^--?[\w-]+=(.+)/.exec(word)?.[1] ?? []) : [word],
  );
  const paths = operands.filter((word) => word !== '' && !NO_PATH.test(word));
  const named = paths.filter((word) => SCRIPT_NAME.test(word));
  if (!isInterpreter || args.some((word) => INLINE.test(word))) return named;
  // After an option, a word may be its value.
  const [first = ''] = args;
  const plain = first.startsWith('-') ? [] : paths.filter((word) => word === first);
  return [
    ...new Set([...named, ...plain, ...paths.filter((word) => word.includes('/')).slice(0, 1)]),
  ];
}

/**
 * Returns the words of a command that stand where a script may stand, whatever their names: for an
 * interpreter, or a program such as `uv run`, the values of its options, and those that follow
 * options, with the first other one.
 */
export function scriptPositions(program: string, words: readonly string[]): string[] {
  const runsScripts = CODE_SOURCES.get(program)?.runsScripts === true;
  if (
    !runsScripts &&
    !INTERPRETERS.test(program) &&
    !INTERPRETER.test(program) &&
    !SHELLS.has(program)
  )
    return [];
  const args = runsScripts && RUN.test(words[0] ?? '') ? words.slice(1) : words;
  const end = args.findIndex(
    (word, index) => !word.startsWith('-') && args[index - 1]?.startsWith('-') !== true,
  );
  const before = end === -1 ? args : args.slice(0, end + 1);
  return before.flatMap((word) =>
    word.startsWith('-') ? (/^--?[\w-]+=(.+)/.exec(word)?.[1] ?? []) : [word],
  );
}

/** Whether the name of a file is one that scripts and compiled code have. */
export function hasScriptName(path: string): boolean {
  return SCRIPT_NAME.test(path);
}
