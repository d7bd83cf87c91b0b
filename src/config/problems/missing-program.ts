import { constants } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import type { Env } from '../../base/env.ts';
import { isFile } from '../../base/paths/is-file.ts';
import { SHELL_BUILT_INS } from '../../base/processes/shell-built-ins.ts';
import type { Config } from '../config.ts';
import { type HookDefinition, runs } from '../hooks/hook-definition.ts';
import { valueAt } from '../toml/config-table.ts';

/**
 * A word of a line for a shell whose meaning is certain: of plain characters, or in quotes, with
 * the home folder as its only variable.
 */
const WORD =
  /^\s*(?:"((?:[^"\\`$]|\$HOME|\$\{HOME\})*)"|'([^']*)'|((?:[\w./~@%+,:-]|\$HOME|\$\{HOME\})+))(?=[\s;|&)]|$)/;
const ASSIGNMENT = /^\s*\w+=(?:[\w./:~-]|\$HOME)*\s/;
/** Commands that run the one that follows. */
const BEFORE_OTHERS = new Set(['command', 'env', 'exec', 'nohup', 'time']);
/** Programs whose first argument is a script. */
const INTERPRETER = /^(?:bash|dash|deno|ksh|node|perl|php|python[\d.]*|ruby|sh|zsh)$/;
const PATH_DEFAULT = '/usr/bin:/bin';

/**
 * Returns what a hook needs and does not find: its program, the script of an interpreter, or its
 * MCP server. Null: nothing is missing, or it cannot be told without running the hook.
 */
export function missingProgram(
  hook: HookDefinition,
  { env, values }: Pick<Config, 'env' | 'values'>,
): string | null {
  const { handler, projectFolder } = hook;
  if (!runs(hook)) return null;
  if (handler.type === 'mcpTool') {
    return valueAt(values, ['mcp_servers', handler.server]) === undefined
      ? `the MCP server ${handler.server}`
      : null;
  }
  return handler.type === 'command' ? missingIn(handler.command, { env, projectFolder }) : null;
}

interface Place {
  env: Env;
  /** The folder that the hook runs in; null: it differs. */
  projectFolder: string | null;
}

function missingIn(command: string, place: Place): string | null {
  const line = without(command, ASSIGNMENT);
  const [program, rest] = nextWord(line, place);
  if (program === null || program.startsWith('-') || SHELL_BUILT_INS.has(program)) return null;
  if (BEFORE_OTHERS.has(program)) return missingIn(rest, place);
  return missingOf(program, () => nextWord(rest, place)[0], place);
}

/**
 * Returns what a program and its arguments need and do not find, as `missingProgram` does. `cwd`:
 * the folder that they run in.
 */
export function missingOfArgv(
  argv: readonly string[],
  { env, cwd }: { env: Env; cwd: string },
): string | null {
  const [program = '', argument] = argv;
  return missingOf(program, () => argument ?? null, { env, projectFolder: cwd });
}

function missingOf(program: string, argument: () => string | null, place: Place): string | null {
  if (!program.includes('/')) {
    const folders = (place.env.PATH ?? PATH_DEFAULT).split(':').filter(isAbsolute);
    if (!folders.some((folder) => isFile(join(folder, program), constants.X_OK)))
      return `the program ${program}`;
  } else if (isMissing(program, place, constants.X_OK))
    return `the program ${program}${isMissing(program, place, constants.F_OK) ? '' : ' (not executable: run chmod +x)'}`;
  if (!INTERPRETER.test(basename(program))) return null;
  const script = argument();
  const isScript = script !== null && !script.startsWith('-') && /[/.]/.test(script);
  return isScript && isMissing(script, place, constants.R_OK) ? `the script ${script}` : null;
}

/** The first word of a line and what follows it. Null: its meaning is not certain. */
function nextWord(line: string, { env }: Place): [word: string | null, rest: string] {
  const match = WORD.exec(line);
  if (match === null) return [null, ''];
  const [whole, inDouble, inSingle, plain] = match;
  const spelt = plain?.replace(/^~(?=\/)/, '$HOME') ?? inDouble ?? '';
  const usesHome = spelt.includes('$');
  const word = inSingle ?? spelt.replace(/\$HOME|\$\{HOME\}/g, () => env.HOME ?? '');
  return [
    word === '' || (usesHome && env.HOME === undefined) ? null : word,
    line.slice(whole.length),
  ];
}

function without(line: string, start: RegExp): string {
  const match = start.exec(line);
  return match === null ? line : without(line.slice(match[0].length), start);
}

function isMissing(path: string, { projectFolder }: Place, mode: number): boolean {
  if (isAbsolute(path)) return !isFile(path, mode);
  return (
    projectFolder !== null && !path.startsWith('~') && !isFile(join(projectFolder, path), mode)
  );
}
