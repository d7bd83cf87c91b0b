import { createHash } from 'node:crypto';
import { type Env, setVariables } from '../../base/env.ts';

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
   * `configured`: the configuration names it, so what it runs must not change. `approved`: somebody
   * has looked at the command itself, so only the files that its shell reads first count.
   */
  kind: 'configured' | 'approved';
}

/** A file or folder that a program runs, or finds its code through. */
export interface ProgramFile {
  /** Absolute. It may contain links, and need not exist. */
  path: string;
  /**
   * If nothing is there: `guard` keeps commands from creating it. `watch` does not, because
   * ordinary work or a user's shell would stumble over a guard: a program is not started if it has
   * appeared since.
   */
  ifAbsent: 'guard' | 'watch';
  /**
   * The links on its way stay writable: their folders belong to a package manager. Absent: they are
   * protected.
   */
  leavesLinks?: true;
}

/** Environments belong to configurations, and many programs share one. */
const envKeys = new WeakMap<Env, string>();

/**
 * The same for programs that run the same. Each variable can decide which files a line for a shell
 * names.
 */
export function programKey({ argv, cwd, env, kind }: ServerProgram): string {
  let envKey = envKeys.get(env);
  if (envKey === undefined) {
    envKey = createHash('sha256')
      .update(JSON.stringify(Object.entries(setVariables(env)).sort()))
      .digest('base64');
    envKeys.set(env, envKey);
  }
  return JSON.stringify([kind, cwd, argv, envKey]);
}
