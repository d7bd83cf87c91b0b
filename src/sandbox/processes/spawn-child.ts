import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { constants } from 'node:os';
import type { Writable } from 'node:stream';
import { mayStart, spawnProgram } from '../../base/processes/spawn-program.ts';
import { ProcessStartError } from './processes.ts';
import type { ProgramEnd } from './started-process.ts';

export interface ChildOptions {
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Its stdin, stdout and stderr, and the further files to pass to it. */
  stdio: readonly ('pipe' | 'ignore' | number)[];
  /**
   * File descriptors of this process that children would inherit. The child gets /dev/null in their
   * place.
   */
  hidden: ReadonlySet<number>;
  /** True: it does not keep this process alive. */
  isBackground?: boolean;
}

/**
 * Starts a program in its own session. Rejects with a `ProcessStartError` if it cannot be started.
 */
export async function spawnChild(
  options: ChildOptions,
): Promise<{ child: ChildProcess; exited: Promise<ProgramEnd> }> {
  await mayStart();
  const child = spawnNow(options);
  const exited = new Promise<ProgramEnd>((resolve) => {
    child.once('exit', (code, signal) =>
      resolve({ exitCode: code ?? 128 + (signal === null ? 0 : constants.signals[signal]) }),
    );
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => reject(startError(error)));
  });
  if (options.isBackground === true) child.unref();
  return { child, exited };
}

/** Writes data. Resolves when it is written, or when the stream is closed. */
export function writeTo(stream: Writable | null, data: Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (stream === null || !stream.writable) {
      resolve();
      return;
    }
    // If the stream is destroyed in the meantime, its callback may never be called.
    stream.once('close', resolve);
    stream.write(data, () => {
      stream.off('close', resolve);
      resolve();
    });
  });
}

/**
 * Starts a program without waiting for the result. Throws a `ProcessStartError` if it fails
 * immediately.
 */
export function spawnNow({ argv, cwd, env, stdio, hidden }: ChildOptions): ChildProcess {
  const [program = '', ...args] = argv;
  const nothing = hidden.size === 0 ? null : openNothing();
  const files = [...stdio];
  if (nothing !== null) {
    const count = Math.max(files.length, ...[...hidden].map((file) => file + 1));
    while (files.length < count) files.push(hidden.has(files.length) ? nothing : 'ignore');
  }
  try {
    return spawnProgram(program, args, { cwd, env, detached: true, stdio: files });
  } catch (error) {
    throw startError(error);
  } finally {
    if (nothing !== null) closeSync(nothing);
  }
}

function openNothing(): number {
  try {
    return openSync('/dev/null', 'r+');
  } catch (error) {
    throw startError(error);
  }
}

/** Wraps an error of the system in a `ProcessStartError`. */
export function startError(error: unknown): ProcessStartError {
  return new ProcessStartError(
    `cannot start the program: ${error instanceof Error ? error.message : String(error)}`,
    { cause: error },
  );
}
