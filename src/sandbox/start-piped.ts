import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { drainOutput } from './drain-output.ts';
import type { OutputStream, ProcessEnd } from './processes.ts';
import { ProcessStartError } from './processes.ts';
import type { StartedProcess } from './started-process.ts';

export interface Launch {
  /** Not empty. */
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Open from file descriptor 3 on. */
  files: readonly number[];
  onOutput: (stream: OutputStream, bytes: Buffer) => void;
}

/** Starts a program with its output in pipes, in a session of its own. Rejects with a `ProcessStartError`. */
export async function startPiped({ argv, cwd, env, files, onOutput }: Launch, { input }: { input: boolean }): Promise<StartedProcess> {
  const [program = '', ...args] = argv;
  const child = spawnChild(program, args, { cwd, env, detached: true, stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe', ...files] });
  const exited = new Promise<ProcessEnd>((resolve) => {
    child.once('exit', (code, signal) => resolve({ exitCode: code ?? 128 + (signal === null ? 0 : constants.signals[signal]) }));
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => reject(startError(program, error)));
  });
  child.stdin?.on('error', () => {});
  const output = drainOutput([
    { stream: child.stdout, onData: (bytes) => onOutput('stdout', bytes) },
    { stream: child.stderr, onData: (bytes) => onOutput('stderr', bytes) },
  ]);
  const { stdin } = child;
  return {
    pid: child.pid ?? 0,
    exited,
    output,
    write: (data) =>
      new Promise((resolve) => {
        if (stdin === null || stdin.destroyed || stdin.writableEnded) resolve();
        else stdin.write(data, () => resolve());
      }),
    endInput: () => stdin?.end(),
    resize: () => {},
    release: () => stdin?.destroy(),
  };
}

function spawnChild(program: string, args: string[], options: Parameters<typeof spawn>[2]): ChildProcess {
  try {
    return spawn(program, args, options);
  } catch (error) {
    throw startError(program, error);
  }
}

function startError(program: string, error: unknown): ProcessStartError {
  return new ProcessStartError(`cannot run ${program}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}
