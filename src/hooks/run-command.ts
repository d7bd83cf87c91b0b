import type { Clock } from '../base/clock.ts';
import { orAborted } from '../base/or-aborted.ts';
import { killed } from '../sandbox/processes/killed.ts';
import { type Processes, ProcessStartError, type RunningProcess } from '../sandbox/processes/processes.ts';

/** The most of each output that is kept. */
const KEPT_BYTES_MAX = 1024 * 1024;
/** A command that writes more is killed. */
const WRITTEN_BYTES_MAX = 64 * 1024 * 1024;

export interface HookCommand {
  /** The program and its arguments. */
  argv: readonly string[];
  /** Absolute. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Its standard input. */
  input: string;
  timeoutSec: number;
  /** Of the process, for the keeper of processes. */
  owner: readonly string[];
}

/** How a command ended. `isCut`: there was more of stdout. */
export type CommandResult = { exitCode: number; stdout: string; stderr: string; isCut: boolean } | { failure: string };

interface CommandDeps {
  processes: Processes;
  clock: Clock;
}

/**
 * Runs the command of a hook to its end, with the rights of the user, and kills what it leaves behind holding its output. Ends at its
 * time limit, and when the signal aborts. Never rejects.
 */
export async function runCommand(command: HookCommand, deps: CommandDeps, signal: AbortSignal): Promise<CommandResult> {
  if (signal.aborted) return { failure: INTERRUPTED };
  const stdout = new KeptOutput();
  const stderr = new KeptOutput();
  const over = new AbortController();
  let failure: string | null = null;
  const fail = (why: string) => {
    failure ??= why;
    over.abort();
  };
  const onOutput = (stream: 'stdout' | 'stderr', bytes: Buffer) => {
    const kept = stream === 'stdout' ? stdout : stderr;
    kept.take(bytes);
    if (kept.written > WRITTEN_BYTES_MAX) fail(`it was stopped, because it printed more than ${WRITTEN_BYTES_MAX / 1024 / 1024} MiB`);
  };
  const { argv, cwd, env, owner, timeoutSec, input } = command;
  const onAbort = () => fail(INTERRUPTED);
  const timer = deps.clock.setTimer(() => fail(`it did not end within ${timeoutSec} s, and was stopped`), timeoutSec * 1000);
  signal.addEventListener('abort', onAbort);
  try {
    const program = await deps.processes.start({ argv, cwd, env, bounds: null, owner, input: true, terminal: null }, onOutput);
    const exitCode = await ended(program, { input, timeoutSec, over: over.signal, clock: deps.clock });
    if (failure !== null || exitCode === null) return { failure: failure ?? INTERRUPTED };
    return { exitCode, stdout: stdout.text(), stderr: stderr.text(), isCut: stdout.isCut };
  } catch (error) {
    if (error instanceof ProcessStartError) return { failure: `it could not be started: ${error.message}` };
    throw error;
  } finally {
    timer.clear();
    signal.removeEventListener('abort', onAbort);
  }
}

const INTERRUPTED = 'it was stopped, because nobody waits for it any more';

interface Ending {
  input: string;
  timeoutSec: number;
  over: AbortSignal;
  clock: Clock;
}

/** Writes the input and waits for the end. Null: the signal aborted before. Then the program and all that it started are killed. */
async function ended(program: RunningProcess, { input, timeoutSec, over, clock }: Ending): Promise<number | null> {
  // Does not wait: many hooks do not read their input.
  void program.write(Buffer.from(input)).then(() => program.endInput());
  const leave = program.attend(timeoutSec * 1000);
  try {
    const end = await orAborted(program.ended, over);
    if (end?.allRead !== true) await killed(program.kill(), clock);
    return end?.exitCode ?? null;
  } finally {
    leave();
  }
}

/** The beginning of an output. */
class KeptOutput {
  written = 0;
  readonly #pieces: Buffer[] = [];
  #kept = 0;

  /** The bytes are valid only during the call. */
  take(bytes: Buffer): void {
    this.written += bytes.length;
    const room = KEPT_BYTES_MAX - this.#kept;
    if (room <= 0) return;
    const piece = Buffer.from(bytes.subarray(0, room));
    this.#kept += piece.length;
    this.#pieces.push(piece);
  }

  get isCut(): boolean {
    return this.written > KEPT_BYTES_MAX;
  }

  text(): string {
    return Buffer.concat(this.#pieces).toString('utf8');
  }
}
