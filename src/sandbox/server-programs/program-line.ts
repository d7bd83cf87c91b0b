import { BETWEEN } from '../../policy/outside/line-words.ts';
import { COMMAND_RUNNERS, SHELLS } from '../../policy/parse/command-runners.ts';
import { parseCommand } from '../../policy/parse/parse-command.ts';
import { programName } from '../../policy/parse/program-name.ts';
import type { SimpleCommand } from '../../policy/parse/simple-command.ts';
import { expandVariables } from './expand-variables.ts';
import type { ServerProgram } from './server-program.ts';

/** The commands that a program consists of: a line for a shell has several. */
export interface ProgramLine {
  /**
   * The shell, and whether it reads the profile of the user, and the files of terminals. Null: no
   * shell runs the commands.
   */
  shell: { path: string; login: boolean; interactive: boolean } | null;
  /**
   * Those that certainly run, in their order, with those that they run in turn. `\0` stands for
   * text that only the shell knows.
   */
  certain: readonly SimpleCommand[];
  /** Parts that may run as commands. */
  possible: readonly SimpleCommand[];
  /** The files that commands get as their input. */
  inputs: readonly string[];
  /** The values that it gives PATH, for some of its commands or all that follow. */
  paths: readonly string[];
}

/** The target of a redirection of input: a shell or an interpreter may run it. */
const INPUT = /(?<![<0-9])<[ \t]*([^\s<>&|;()"'`$]+)/g;
/** The value that PATH gets, with its quotes: before a command, by `export` or by `env`. */
const PATH_SET =
  /(?:^|[\s;&|({"'])PATH(\+?)=((?:"[^"]*"|'[^']*'|\$\([^)]*\)|\$\{[^}]*\}|`[^`]*`|[^\s;&|)}"'`])*)/g;
/** Text for PATH if it has a value, as in `tools${PATH:+:$PATH}`. */
const IF_SET = /\$\{PATH:?\+([^}]*)\}/g;
const OLD_PATH = /\$(?:PATH(?!\w)|\{PATH(?::?-[^}]*)?\})/g;
const FROM_SHELL = /\$\([^)]*\)|`[^`]*`|\$\{[^}]*\}|\$\w+/g;
/** The option of a shell after which its script follows. */
const SCRIPT_OPTION = /^-[a-z]*c$/;
/** Scripts for shells in scripts for shells. */
const NESTED_SCRIPTS_MAX = 4;

/** Parses the words of a program. Looks at no files. */
export async function programLine({ argv, cwd, env, kind }: ServerProgram): Promise<ProgramLine> {
  const [path = '', options = '', script] = argv;
  const isShell =
    SHELLS.has(programName(path)) && script !== undefined && SCRIPT_OPTION.test(options);
  const shell = isShell
    ? { path, login: options.includes('l'), interactive: options.includes('i') }
    : null;
  if (kind === 'approved') return { shell, certain: [], possible: [], inputs: [], paths: [] };
  const line = isShell ? expandVariables(script, { ...env, PWD: cwd }) : '';
  const { certain, possible } = await commandsOf(isShell ? ['/bin/bash', '-c', line] : argv, 0);
  const inputs = [...line.matchAll(INPUT)].map(([, word = '']) => word);
  const set = isShell ? line : argv.filter((word) => word.startsWith('PATH=')).join('\n');
  return { shell, certain, possible, inputs, paths: pathsIn(set, env.PATH ?? '') };
}

/**
 * The values that a line gives PATH, once its variables are expanded. Text that only a shell knows
 * counts as the working directory, which shells also search for an empty entry.
 */
function pathsIn(line: string, path: string): string[] {
  const values = [...line.matchAll(PATH_SET)].map(([, added = '', value = '']) => {
    const whole = value
      .replace(/["']/g, '')
      .replace(IF_SET, '$1')
      .replace(OLD_PATH, () => path);
    return (added === '' ? '' : path) + whole.replace(FROM_SHELL, '.');
  });
  return [...new Set(values)];
}

async function commandsOf(
  argv: readonly string[],
  depth: number,
): Promise<Pick<ProgramLine, 'certain' | 'possible'>> {
  const { text, commands, tracedCommands, possibleCommands } = await parseCommand(argv);
  const isUncertain = commands === null && tracedCommands === null;
  const certain: SimpleCommand[] = [];
  // If it is not certain what runs, everything that may run counts.
  for (const command of (commands ?? tracedCommands ?? possibleCommands).flatMap(withoutRunners)) {
    const { words } = command;
    const option = SHELLS.has(programName(words[0] ?? ''))
      ? words.findIndex((word) => SCRIPT_OPTION.test(word))
      : -1;
    const script = option === -1 ? undefined : words[option + 1];
    certain.push(command);
    if (script !== undefined && depth < NESTED_SCRIPTS_MAX)
      certain.push(...(await commandsOf(['/bin/bash', '-c', script], depth + 1)).certain);
  }
  // It is not known what stands before the words of a line that is not understood.
  const before = isUncertain
    ? ['\0']
    : certain.some(({ words }) => words.some((word) => word.includes('\0')))
      ? ['']
      : [];
  return {
    certain,
    possible: [
      ...possibleCommands,
      ...before.map((program) => ({ words: [program, ...text.split(BETWEEN)] })),
    ],
  };
}

/** A command, and the one that it runs, if it is a program such as `env` or `timeout`. */
function withoutRunners(command: SimpleCommand): SimpleCommand[] {
  const [program = '', ...args] = command.words;
  if (!COMMAND_RUNNERS.has(program) || SHELLS.has(program)) return [command];
  const start = args.findIndex((word) => !/^-|^\w+=|^[\d.]+[smhd]?$/.test(word));
  if (start === -1) return [command];
  // The word after an option may be its value.
  const inner = (args[start - 1]?.startsWith('-') === true ? [start, start + 1] : [start]).map(
    (index) => args.slice(index),
  );
  return [
    command,
    ...inner.flatMap((words) => (words.length === 0 ? [] : withoutRunners({ words }))),
  ];
}
