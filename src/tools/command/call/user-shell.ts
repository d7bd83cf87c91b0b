import { accessSync, constants } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { Env } from '../../../base/env.ts';

/** Shells that take `-c` and, to read the user's profile, `-l`. */
const SHELLS = ['bash', 'zsh', 'sh', 'dash', 'ksh'];
/** Where shells are installed. One from elsewhere is a program like any other, and no shell. */
const FOLDERS = ['/bin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'];

/** The user's shell: absolute. Where it is none that commands can be given to, bash or sh. */
export function userShell(env: Env): string {
  const { SHELL: shell = '' } = env;
  if (isAbsolute(shell) && isShellName(shell)) return shell;
  return findShell('bash', env) ?? '/bin/sh';
}

/** The shell of a name or a path, absolute; null: there is none. */
export function findShell(wanted: string, env: Env): string | null {
  if (!isShellName(wanted)) return null;
  if (wanted === env.SHELL && isAbsolute(wanted)) return wanted;
  if (wanted.includes('/')) return FOLDERS.includes(dirname(wanted)) && isProgram(wanted) ? wanted : null;
  return FOLDERS.map((folder) => join(folder, wanted)).find(isProgram) ?? null;
}

/** Whether a program is a shell, by its name. */
export function isShellName(program: string): boolean {
  return SHELLS.includes(basename(program));
}

/** What runs a script in a shell. A login shell reads the user's profile first. */
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
