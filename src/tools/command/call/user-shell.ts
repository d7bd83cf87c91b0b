import { accessSync, constants } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { Env } from '../../../base/env.ts';

/** Shells that support `-c`, and `-l` to read the user's profile. */
const SHELLS = ['bash', 'zsh', 'sh', 'dash', 'ksh'];
/**
 * The folders where shells are installed. A program elsewhere is not accepted as a shell, unless it
 * is $SHELL.
 */
const FOLDERS = ['/bin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'];

/** The absolute path of the user's shell. Returns bash or sh if $SHELL is not a supported shell. */
export function userShell(env: Env): string {
  const { SHELL: shell = '' } = env;
  if (isAbsolute(shell) && isShellName(shell)) return shell;
  return findShell('bash', env) ?? '/bin/sh';
}

/** The absolute path of the shell with this name or path. Returns null if there is none. */
export function findShell(wanted: string, env: Env): string | null {
  if (!isShellName(wanted)) return null;
  if (wanted === env.SHELL && isAbsolute(wanted)) return wanted;
  if (wanted.includes('/'))
    return FOLDERS.includes(dirname(wanted)) && isProgram(wanted) ? wanted : null;
  return FOLDERS.map((folder) => join(folder, wanted)).find(isProgram) ?? null;
}

/** Whether the name of a program is that of a shell. */
export function isShellName(program: string): boolean {
  return SHELLS.includes(basename(program));
}

/** The argv that runs a script in a shell. A login shell reads the user's profile first. */
export function shellArgv(shell: string, script: string, { login }: { login: boolean }): string[] {
  return [shell, login ? '-lc' : '-c', script];
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
