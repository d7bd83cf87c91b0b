import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * `spawn` of Node, for everything that this server starts. Throws an error if the process has no resources to start a program, such
 * as file descriptors. Node returns a child without its pipes then, and an `error` event, which ends the process if nobody listens.
 */
export const spawnProgram = ((program: string, args: readonly string[], options: Parameters<typeof spawn>[2]): ChildProcess => {
  const child = spawn(program, args, options);
  // The caller may listen too late, or not at all.
  child.on('error', () => {});
  if (child.stdio === undefined) throw new Error(`${program} cannot be started: no file descriptors are left`);
  return child;
}) as typeof spawn;

/** `execFile` of Node. Rejects with its error, also if the program cannot be started. */
export const runToEnd = promisify(execFile);
