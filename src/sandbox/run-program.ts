import type { Clock } from '../base/clock.ts';
import { orAborted } from '../base/or-aborted.ts';
import type { SandboxBounds } from '../policy/permissions/sandbox-bounds.ts';
import { awaitKill } from './processes/await-kill.ts';
import {
  ChangedProgramError,
  type Processes,
  ProcessStartError,
  type RunningProcess,
  SandboxUnavailableError,
} from './processes/processes.ts';

/** The most of each output that is kept. */
export const OUTPUT_BYTES_MAX = 1024 * 1024;
/** A program that writes more is killed. */
const WRITTEN_BYTES_MAX = 64 * 1024 * 1024;

/** A program of the user, or a command in a sandbox. */
export interface Program {
  /** The program and its arguments. */
  argv: readonly string[];
  /** The argv by which the files that it runs are known, if it is another one. */
  startedAs?: readonly string[];
  /**
   * Whether it reads files by and by: it is stopped when a command is about to start that could
   * write them. Default: false.
   */
  readsOn?: boolean;
  /** Absolute. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Its standard input, in parts. */
  input: readonly Buffer[];
  timeoutSec: number;
  /** Of the process, for the keeper of processes. */
  owner: readonly string[];
  /** Its purpose, such as `the safety check of MCP calls`. */
  of: string;
  /**
   * The sandbox that it runs in, and how much of its output is kept: both streams are one. Absent:
   * it has none, and the rights of the server.
   */
  confined?: { bounds: SandboxBounds; keptBytesMax: number };
}

/**
 * How a program ended. `isCut`: there was more of stdout. `isRefused`: it was not started, because
 * commands may have written what it runs.
 */
export type ProgramResult =
  | { exitCode: number; stdout: string; stderr: string; isCut: boolean }
  | { failure: string; isRefused: boolean };

interface ProgramDeps {
  processes: Processes;
  clock: Clock;
}

/**
 * Runs a program to its end, and kills what it leaves behind holding its output. Ends at its time
 * limit, and when the signal aborts. Rejects only if the server itself fails.
 */
export async function runProgram(
  program: Program,
  deps: ProgramDeps,
  signal: AbortSignal,
): Promise<ProgramResult> {
  if (signal.aborted) return { failure: STOPPED_EARLY, isRefused: false };
  const {
    argv,
    startedAs = argv,
    readsOn = false,
    cwd,
    env,
    owner,
    of,
    timeoutSec,
    input,
    confined,
  } = program;
  const stdout = new KeptOutput(confined?.keptBytesMax);
  const stderr = new KeptOutput(confined?.keptBytesMax);
  const over = new AbortController();
  let failure: string | null = null;
  const fail = (why: string) => {
    failure ??= why;
    over.abort();
  };
  const onOutput = (stream: 'stdout' | 'stderr', bytes: Buffer) => {
    const kept = stream === 'stdout' ? stdout : stderr;
    kept.take(bytes);
    if (kept.written > WRITTEN_BYTES_MAX)
      fail(`it was stopped, because it printed more than ${WRITTEN_BYTES_MAX / 1024 / 1024} MiB`);
  };
  const how =
    confined === undefined
      ? {
          ...{ bounds: null, startedFor: { of, kind: 'configured', argv: startedAs } as const },
          ...(readsOn ? { onExposed: () => fail(EXPOSED) } : {}),
        }
      : { bounds: confined.bounds, joinsOutput: true, signal: over.signal };
  const onAbort = () => fail(STOPPED_EARLY);
  const timer = deps.clock.setTimer(() => fail(outOfTime(timeoutSec)), timeoutSec * 1000);
  signal.addEventListener('abort', onAbort);
  try {
    const running = await deps.processes.start(
      { argv, cwd, env, ...how, owner, input: true, terminal: null },
      onOutput,
    );
    const exitCode = await ended(running, {
      input,
      timeoutSec,
      over: over.signal,
      clock: deps.clock,
    });
    if (failure !== null || exitCode === null)
      return { failure: failure ?? STOPPED_EARLY, isRefused: false };
    return { exitCode, stdout: stdout.text(), stderr: stderr.text(), isCut: stdout.isCut };
  } catch (error) {
    if (error instanceof ProcessStartError || error instanceof SandboxUnavailableError) {
      return {
        failure: `it could not be started: ${error.message}`,
        isRefused: error instanceof ChangedProgramError,
      };
    }
    throw error;
  } finally {
    timer.clear();
    signal.removeEventListener('abort', onAbort);
  }
}

/** The failure of work that nobody waits for any more. */
export const STOPPED_EARLY =
  'it was stopped, because its turn was interrupted or its thread was closed';

const EXPOSED = 'it was stopped, because a command that could write its files was about to start';

/** The failure of work that has reached its time limit. */
export function outOfTime(timeoutSec: number): string {
  return `it did not end within ${timeoutSec} s, and was stopped`;
}

interface Ending {
  input: readonly Buffer[];
  timeoutSec: number;
  over: AbortSignal;
  clock: Clock;
}

/**
 * Writes the input and waits for the end. Null: the signal aborted before. Then the program and all
 * that it started are killed.
 */
async function ended(
  running: RunningProcess,
  { input, timeoutSec, over, clock }: Ending,
): Promise<number | null> {
  // Does not wait: many programs do not read their input.
  void Promise.all(input.map((part) => running.write(part))).then(() => running.endInput());
  const leave = running.attend(timeoutSec * 1000);
  try {
    const end = await orAborted(running.ended, over);
    if (end?.allRead !== true) await awaitKill(running.kill(), clock);
    return end?.exitCode ?? null;
  } finally {
    leave();
  }
}

/** The beginning of an output. */
class KeptOutput {
  written = 0;
  readonly #pieces: Buffer[] = [];
  readonly #bytesMax: number;
  #kept = 0;

  constructor(bytesMax = OUTPUT_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** The bytes are valid only during the call. */
  take(bytes: Buffer): void {
    this.written += bytes.length;
    const room = this.#bytesMax - this.#kept;
    if (room <= 0) return;
    const piece = Buffer.from(bytes.subarray(0, room));
    this.#kept += piece.length;
    this.#pieces.push(piece);
  }

  get isCut(): boolean {
    return this.written > this.#bytesMax;
  }

  text(): string {
    return Buffer.concat(this.#pieces).toString('utf8');
  }
}
