import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Started in one round of the event loop: to start a program blocks the thread for about a
 * millisecond, and longer on a busy machine.
 */
const STARTS_A_ROUND = 2;

let startsInRound = 0;
let waiting: (() => void)[] = [];

/**
 * Resolves when a program may be started. Await it directly before `spawnProgram`, so that many
 * starts at once let other work run.
 */
export function mayStart(): Promise<void> {
  if (startsInRound < STARTS_A_ROUND) return Promise.resolve(noteStart());
  return new Promise((resolve) => waiting.push(resolve));
}

function noteStart(): void {
  if (startsInRound++ === 0) setImmediate(beginRound);
}

function beginRound(): void {
  startsInRound = 0;
  const next = waiting.slice(0, STARTS_A_ROUND);
  waiting = waiting.slice(STARTS_A_ROUND);
  for (const begin of next) {
    noteStart();
    begin();
  }
}

/**
 * `spawn` of Node, for everything that this server starts. Throws an error if the process has no
 * resources to start a program, such as file descriptors. Node returns a child without its pipes
 * then, and an `error` event, which ends the process if nobody listens.
 */
export const spawnProgram = ((
  program: string,
  args: readonly string[],
  options: Parameters<typeof spawn>[2],
): ChildProcess => {
  const child = spawn(program, args, options);
  // The caller may listen too late, or not at all.
  child.on('error', () => {});
  if (child.stdio === undefined)
    throw new Error(`${program} cannot be started: no file descriptors are left`);
  return child;
}) as typeof spawn;

const execute = promisify(execFile);

/** `execFile` of Node. Rejects with its error, also if the program cannot be started. */
export const runToEnd = (async (...call: Parameters<typeof execute>) => {
  await mayStart();
  return execute(...call);
}) as typeof execute;
