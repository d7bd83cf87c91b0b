import type { Env } from '../../base/env.ts';

/** A program that the server starts outside the sandbox. */
export interface ServerProgram {
  /** What it is for, in errors, such as `the MCP server docs`. */
  of: string;
  /** The program and its arguments. */
  argv: readonly string[];
  /** Absolute. */
  cwd: string;
  /** Its whole environment. */
  env: Env;
  /**
   * `configured`: the configuration names it, so what it runs must not change. `approved`: somebody has looked at the command itself, so
   * only the files that its shell reads first count.
   */
  kind: 'configured' | 'approved';
}

/** A file or folder that a program runs, or finds its code through. */
export interface ProgramFile {
  /** Absolute. It may contain links, and need not exist. */
  path: string;
  /**
   * If nothing is there: `guard` keeps commands from creating it. `watch` does not, because ordinary work or a user's shell would stumble
   * over a guard: a program is not started if it has appeared since.
   */
  ifAbsent: 'guard' | 'watch';
}

/** The same for programs that run the same. */
export function programKey({ argv, cwd, env, kind }: ServerProgram): string {
  return JSON.stringify([kind, cwd, argv, ...VARIABLES.map((name) => env[name] ?? null)]);
}

/** The variables that decide which files a program runs. */
const VARIABLES = ['PATH', 'HOME', 'BASH_ENV', 'ENV', 'ZDOTDIR'];
