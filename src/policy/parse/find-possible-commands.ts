import type { Node } from 'web-tree-sitter';
import type { ReadBash } from './bash-reader.ts';
import { COMMAND_RUNNERS, SHELLS } from './command-runners.ts';
import { commandWords } from './command-words.ts';
import { decodePartialWord } from './decode-partial-word.ts';
import { programName } from './program-name.ts';

type Words = readonly string[];

const READS_ARGUMENTS: ReadonlySet<string> = new Set(['xargs', 'parallel']);
/** Programs that search for files: the option before the command that they run. */
const FD_RUNS = /^(?:-[A-WYZa-wyz]*[xX]|--exec(?:-batch)?)(?:=|$)/;
const FINDERS: ReadonlyMap<string, RegExp> = new Map([
  ['find', /^-(?:exec|ok)(?:dir)?$/],
  ['fd', FD_RUNS],
  ['fdfind', FD_RUNS],
]);
/** The git arguments that come before a command, and settings, which may contain one. */
const GIT_RUNS =
  /^(?:foreach|run|-x|--exec|--[a-z]+-filter|--(?:upload|receive)-pack|-O|--open-files-in-pager)(?:=|$)/;
const GIT_SETTING = /^-?[\w-]+\..*=/;
/** Options of other programs whose value is run as a command. */
const RUN_OPTION_NAMES =
  'checkpoint-action|command|compress-program|exec|hostname-bin|info-script|new-volume-script|pre|rmt-command|rsh|rsh-command|' +
  'to-command|use-compress-program';
const RUN_OPTIONS = new RegExp(`^--(?:${RUN_OPTION_NAMES})(?:=(?:exec=)?|$)`);
/** One-letter options whose value is run, by program. */
const SHORT_RUN_OPTIONS: ReadonlyMap<string, RegExp> = new Map([
  ['tar', /^-[a-z]*[IF]$/],
  ['rsync', /^-[a-zA-Z]*e$/],
  ['man', /^-P$/],
]);
/** For these, the shell runs substitutions in the subscripts of their variables. */
const READ_SUBSCRIPTS: ReadonlySet<string> = new Set(
  '[ declare export let local printf read readonly test typeset unset'.split(' '),
);
const SUBSTITUTION = /\$\(|`/;
const SCRIPT_LIKE = /[\s;&|()'"\\`$]/;
const SCRIPT_DEPTH_MAX = 8;
const COMMANDS_MAX = 1000;
/** Words after these may be anything. */
const WORDS_MAX = 200;
const SYNTAX_DEPTH_MAX = 500;
/** Stands for a command that was too large to read, so it may be anything. */
const UNKNOWN: Words = ['\0', '\0'];

/**
 * Returns the words of every part of a command or script that may itself run as a command. Includes
 * a part if that is uncertain. `\0` stands for text that only the shell knows.
 */
export async function findPossibleCommands(
  command: Words | string,
  readBash: ReadBash,
): Promise<readonly Words[]> {
  return new PossibleCommands(readBash).find(command);
}

class PossibleCommands {
  readonly #readBash: ReadBash;
  readonly #found: Words[] = [];
  readonly #scripts: { text: string; depth: number }[] = [];

  constructor(readBash: ReadBash) {
    this.#readBash = readBash;
  }

  async find(command: Words | string): Promise<readonly Words[]> {
    if (typeof command === 'string') this.#addScript(command, 0);
    else this.#addCommand(command, 0);
    // The loop also reads the scripts that it adds.
    for (const { text, depth } of this.#scripts) {
      if (this.#found.length >= COMMANDS_MAX) {
        this.#found.push(UNKNOWN);
        break;
      }
      const read = await this.#readBash(text, (root) => {
        this.#addNode(root, depth, 0);
        return true;
      });
      if (read === null) this.#found.push(UNKNOWN);
    }
    return this.#found;
  }

  #addCommand(words: Words, depth: number): void {
    const [program = ''] = words;
    if (program === '') return;
    if (this.#found.length >= COMMANDS_MAX || depth > SCRIPT_DEPTH_MAX) {
      this.#found.push(UNKNOWN);
      return;
    }
    this.#found.push(words.length > WORDS_MAX ? [...words.slice(0, WORDS_MAX), '\0'] : words);
    const args = run(programName(program), words.slice(1));
    if (args !== null) this.#addArguments(args, depth + 1);
  }

  /**
   * Each argument may be a command or a script, or contain one after a `=`. All of them together
   * may be a script too.
   */
  #addArguments(args: Words, depth: number): void {
    for (const [index, arg] of args.entries()) {
      if (this.#found.length >= COMMANDS_MAX) return;
      this.#addArgument(arg, args.slice(index + 1, index + 1 + WORDS_MAX), depth);
    }
    if (args.length > 1) this.#addScript(args.join(' '), depth);
  }

  #addArgument(arg: string, following: Words, depth: number): void {
    const value = arg.slice(arg.indexOf('=') + 1).replace(/^!/, '');
    // For `su -c'rm x'` and `env -iS'rm x'`.
    const glued = /^-[A-Za-z]+\s/.test(arg)
      ? [arg.replace(/^-\w/, ''), arg.replace(/^-[A-Za-z]*?S/, '')]
      : [];
    for (const text of new Set([arg, value === '\0' ? arg : value, ...glued])) {
      if (SCRIPT_LIKE.test(text)) this.#addScript(text, depth);
      else this.#addCommand([text, ...following], depth);
    }
  }

  /**
   * Adds a script with continued lines twice: the parser and the shells read a word that is split
   * over lines differently.
   */
  #addScript(script: string, depth: number): void {
    for (const text of new Set([script, script.replaceAll('\\\n', '')])) {
      if (this.#scripts.length >= COMMANDS_MAX) {
        this.#found.push(UNKNOWN);
        return;
      }
      this.#scripts.push({ text, depth });
    }
  }

  /**
   * Adds the words of the other commands if a shell reads from the pipeline, as in `echo 'rm x' |
   * sh`.
   */
  #addPiped(pipeline: Node, depth: number): void {
    const parts = pipeline.namedChildren.map(commandWords);
    if (!parts.some(readsScript)) return;
    for (const [, ...args] of parts)
      for (const text of new Set([...args, args.join(' ')])) this.#addScript(text, depth);
  }

  #addNode(node: Node, depth: number, nodeDepth: number): void {
    if (nodeDepth > SYNTAX_DEPTH_MAX) {
      this.#found.push(UNKNOWN);
      return;
    }
    if (node.type === 'command') this.#addCommand(commandWords(node), depth);
    else if (node.type === 'pipeline' && depth <= SCRIPT_DEPTH_MAX) this.#addPiped(node, depth + 1);
    else if (INPUTS.has(node.type) && depth <= SCRIPT_DEPTH_MAX && runsInput(node))
      this.#addScript(inputText(node), depth + 1);
    for (const child of node.children)
      if (child.isNamed) this.#addNode(child, depth, nodeDepth + 1);
  }
}

/** Returns the arguments of a program that it may run. Returns null if there are none. */
function run(program: string, args: Words): Words | null {
  const finderRuns = FINDERS.get(program);
  if (finderRuns !== undefined) {
    const at = args.findIndex((arg) => finderRuns.test(arg));
    return at === -1 ? null : args.slice(at + 1);
  }
  if (program === 'git') {
    const at = args.findIndex((arg) => GIT_RUNS.test(arg));
    return [...args.filter((arg) => GIT_SETTING.test(arg)), ...(at === -1 ? [] : args.slice(at))];
  }
  if (READ_SUBSCRIPTS.has(program)) return args.filter((arg) => SUBSTITUTION.test(arg));
  if (!COMMAND_RUNNERS.has(program)) return optionsThatRun(program, args);
  return READS_ARGUMENTS.has(program) ? [...args, '\0'] : args;
}

function readsScript([program = '', ...args]: Words): boolean {
  const name = programName(program);
  return (
    SHELLS.has(name) ||
    (COMMAND_RUNNERS.has(name) && args.some((arg) => SHELLS.has(programName(arg))))
  );
}

const INPUTS: ReadonlySet<string> = new Set(['heredoc_body', 'herestring_redirect']);

function inputText(node: Node): string {
  return node.type === 'heredoc_body'
    ? node.text
    : node.namedChildren.map(decodePartialWord).join(' ');
}

function optionsThatRun(program: string, args: Words): Words | null {
  const short = SHORT_RUN_OPTIONS.get(program);
  const values = args.flatMap((arg, index) => {
    if (short?.test(arg)) return args.slice(index + 1, index + 2);
    const [option] = RUN_OPTIONS.exec(arg) ?? [];
    if (option === undefined) return [];
    return option === arg ? args.slice(index + 1, index + 2) : [arg.slice(option.length)];
  });
  return values.length === 0 ? null : values;
}

/** Whether a command may run the input that the script gives it in a heredoc or here-string. */
function runsInput(node: Node): boolean {
  for (let at = node.parent; at !== null; at = at.parent) {
    if (at.type !== 'command' && at.type !== 'redirected_statement') continue;
    const commands = at.type === 'command' ? [at] : at.descendantsOfType('command');
    if (
      commands.some((command) => COMMAND_RUNNERS.has(programName(commandWords(command)[0] ?? '')))
    )
      return true;
  }
  return false;
}
