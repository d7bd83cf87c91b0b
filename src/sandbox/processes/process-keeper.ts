import { systemErrorCode } from '../../base/system-error-code.ts';
import type { SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import { RefusedWrites, readOnlyNote } from '../read-only-note.ts';
import type { Confinement, Sandbox } from '../sandbox.ts';
import { sandboxEnvironment } from '../sandbox-environment.ts';
import type { ServerProgram } from '../server-programs/server-program.ts';
import { type EndableStart, ProcessEnder } from './ending/process-ender.ts';
import { findProgram } from './find-program.ts';
import { Pipes } from './pipes.ts';
import { markingArgv, type ProcessMark, ProcessMarks } from './process-mark.ts';
import type { OutputStream, Processes, ProcessSpec, RunningProcess } from './processes.ts';
import {
  ChangedProgramError,
  ProcessStartError,
  SandboxUnavailableError,
  SERVER_ENDING,
} from './processes.ts';
import type { ProcessesDeps } from './processes-deps.ts';
import { startError } from './spawn-child.ts';
import { startPiped } from './start-piped.ts';
import type { Launch, ProgramEnd, StartedProcess } from './started-process.ts';
import { INTERRUPT_KEY, Terminals } from './terminals.ts';
import { waitingProcesses } from './waiting-processes.ts';
import { watchMemory } from './watch-memory.ts';
import { Watchdog } from './watchdog.ts';

/** A started process. Kept as long as it or a process that it started may be running. */
interface Start extends EndableStart {
  owner: readonly string[];
  /**
   * The program, if it must end before a command starts that could write what it has still to read.
   */
  reader: { program: ServerProgram; onExposed: () => void } | null;
}

/** Above this number of kept starts, the ones that left no process behind are removed. */
const STARTS_KEPT = 500;

/** Starts processes on this machine, and keeps track of all processes that they start. */
export class ProcessKeeper implements Processes {
  readonly #deps: ProcessesDeps;
  readonly #marks: ProcessMarks;
  readonly #ender: ProcessEnder;
  readonly #starts = new Set<Start>();
  readonly #watchdog: Watchdog;
  readonly #terminals = new Terminals();
  readonly #pipes: Pipes;
  #forgetAbove = STARTS_KEPT;
  #closed = false;

  constructor(deps: ProcessesDeps) {
    this.#deps = deps;
    this.#marks = new ProcessMarks(deps.env.HEDDLE_COMMAND);
    this.#ender = new ProcessEnder(deps, this.#marks);
    this.#watchdog = new Watchdog(this.#marks, deps.env.PATH ?? '');
    this.#pipes = new Pipes(deps.platform);
  }

  async start(
    spec: ProcessSpec,
    onOutput: (stream: OutputStream, bytes: Buffer) => void,
  ): Promise<RunningProcess> {
    if (this.#closed) throw new ProcessStartError(SERVER_ENDING);
    const start: Start = {
      owner: spec.owner,
      mark: this.#marks.next(),
      leader: null,
      ended: false,
      isConfined: false,
      isConfigured: spec.startedFor?.kind === 'configured',
      reader: readerOf(spec),
      hurry: () => {},
      begun: Promise.resolve(),
      over: Promise.resolve(),
    };
    const refused = new RefusedWrites();
    const launched = this.#launch(spec, start, (stream, bytes) => {
      if (spec.bounds !== null) refused.take(stream, bytes);
      onOutput(stream, bytes);
    });
    start.begun = launched.catch(() => {});
    this.#starts.add(start);
    if (this.#starts.size > this.#forgetAbove) {
      this.#forgetAbove = Number.POSITIVE_INFINITY;
      void this.#forgetEnded().catch((error: unknown) => {
        this.#deps.log.warn(
          { err: error },
          'cannot list the processes that ended commands left behind',
        );
        this.#forgetAbove = this.#starts.size + STARTS_KEPT;
      });
    }
    try {
      const { started, confinement } = await launched;
      start.leader = started.pid;
      start.hurry = () => started.output.hurry();
      start.isConfined = confinement !== null && this.#deps.platform === 'linux';
      const tell = (end: ProgramEnd) => {
        const note = end.exitCode !== 0 && refused.areSeen ? readOnlyNote(confinement ?? {}) : null;
        if (note !== null)
          onOutput(
            spec.terminal === null && spec.joinsOutput !== true ? 'stderr' : 'stdout',
            Buffer.from(note),
          );
      };
      const key = spec.terminal === null ? null : () => void started.write(INTERRUPT_KEY);
      return this.#follow(start, started, {
        key,
        tell,
        release: () => this.#release(confinement, spec),
      });
    } catch (error) {
      this.#starts.delete(start);
      throw systemErrorCode(error) === null ? error : startError(error);
    }
  }

  async killOwned(owner: readonly string[]): Promise<void> {
    await this.#kill(
      [...this.#starts].filter((start) =>
        owner.every((word, index) => start.owner[index] === word),
      ),
    );
  }

  async prepare(bounds: SandboxBounds): Promise<void> {
    try {
      await this.#deps.sandbox?.prepare(bounds);
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'cannot prepare what commands will need');
    }
  }

  async tidy(): Promise<void> {
    try {
      await this.#deps.sandbox?.tidy();
    } catch (error) {
      this.#deps.log.error({ err: error }, 'cannot clean up the sandbox of ended commands');
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.killOwned([]);
    this.#watchdog.dismiss();
    this.#pipes.close();
  }

  async #launch(
    spec: ProcessSpec,
    { mark }: Start,
    onOutput: (stream: OutputStream, bytes: Buffer) => void,
  ): Promise<{ started: StartedProcess; confinement: Confinement | null }> {
    const { argv, cwd, pinnedCwd, bounds, terminal, serve, signal } = spec;
    if (terminal === null) this.#pipes.prepare();
    await findProgram(argv[0] ?? '', spec);
    const { sandbox } = this.#deps;
    const confined = bounds === null || sandbox === null ? null : { sandbox, bounds };
    const env = { ...(await sandboxEnvironment(spec.env, confined)), ...mark.env };
    if (bounds === null) {
      const own = { argv, cwd: pinnedCwd ?? cwd, env, files: [], onOutput };
      return { started: await this.#launchFree(spec, mark, own), confinement: null };
    }
    if (sandbox === null) throw new SandboxUnavailableError('There is no sandbox on this system.');
    const confinement = await sandbox.confine(
      { argv, cwd, env, terminal: terminal !== null, serve, signal },
      bounds,
    );
    try {
      await this.#endReaders(sandbox);
      return { started: await this.#begin({ ...confinement, cwd, onOutput }, spec), confinement };
    } catch (error) {
      await confinement.release();
      throw error;
    }
  }

  /** Starts a program without a sandbox. */
  async #launchFree(spec: ProcessSpec, mark: ProcessMark, launch: Launch): Promise<StartedProcess> {
    await this.tidy();
    await this.#requireUnchanged(spec);
    const { memoryBytesMax } = spec;
    const isLinux = this.#deps.platform === 'linux';
    const marking = isLinux ? markingArgv(mark, memoryBytesMax) : [];
    const started = await this.#begin({ ...launch, argv: [...marking, ...launch.argv] }, spec);
    // Other kernels do not hold such a limit.
    if (!isLinux && memoryBytesMax !== undefined)
      void watchMemory(started, memoryBytesMax, this.#deps);
    return started;
  }

  /**
   * Rejects with a `ChangedProgramError` if commands may have written what the program runs, or may
   * do so before it reads it.
   */
  async #requireUnchanged(spec: ProcessSpec): Promise<void> {
    const { sandbox } = this.#deps;
    const program = programOf(spec);
    if (program === null || sandbox === null) return;
    const refusal = await sandbox.refusal(program);
    if (refusal !== null) throw new ChangedProgramError(refusal);
    if (spec.onExposed !== undefined && (await sandbox.isExposed(program))) {
      throw new ChangedProgramError(`a running command could write files that ${program.of} reads`);
    }
  }

  /** Kills the programs that could read what a command writes that is about to start. */
  async #endReaders(sandbox: Sandbox): Promise<void> {
    for (const start of [...this.#starts]) {
      if (start.reader === null || !(await sandbox.isExposed(start.reader.program))) continue;
      start.reader.onExposed();
      await this.#kill([start]);
    }
  }

  async #begin(
    launch: Launch,
    { input, terminal, joinsOutput = false, isBackground = false }: ProcessSpec,
  ): Promise<StartedProcess> {
    if (this.#closed) throw new ProcessStartError(SERVER_ENDING);
    const hidden = this.#terminals.files;
    this.#watchdog.watch(hidden);
    if (terminal !== null) return this.#terminals.start(launch, terminal);
    return startPiped(launch, { input, joinsOutput, isBackground, hidden, pipes: this.#pipes });
  }

  /** Removes the starts that have ended and left no process behind. */
  async #forgetEnded(): Promise<void> {
    const ended = [...this.#starts].filter(({ ended }) => ended);
    const left = new Set((await this.#ender.table.list()).map((entry) => entry.mark()));
    for (const start of ended) if (!left.has(start.mark.number)) this.#starts.delete(start);
    this.#forgetAbove = 2 * this.#starts.size + STARTS_KEPT;
  }

  #follow(
    start: Start,
    started: StartedProcess,
    {
      key,
      tell,
      release,
    }: { key: (() => void) | null; tell: (end: ProgramEnd) => void; release: () => Promise<void> },
  ): RunningProcess {
    const ended = started.exited.then(async (end) => {
      start.leader = null;
      start.ended = true;
      const allRead = await started.finish();
      tell(end);
      await release();
      return { ...end, allRead };
    });
    start.over = ended;
    return {
      pid: started.pid,
      ended,
      write: started.write,
      endInput: started.endInput,
      resize: started.resize,
      pause: () => started.output.pause(),
      resume: () => started.output.resume(),
      attend: () => () => {},
      waiting: () => waitingProcesses(started.pid, this.#ender.table),
      interrupt: () => this.#ender.signal('SIGINT', start, key),
      terminate: () => this.#ender.signal('SIGTERM', start, null),
      kill: () => this.#kill([start]),
    };
  }

  /** Cleans up. A failure is only logged, because the process has ended. */
  async #release(confinement: Confinement | null, { moreFollow }: ProcessSpec): Promise<void> {
    try {
      await confinement?.release(moreFollow);
    } catch (error) {
      this.#deps.log.error({ err: error }, 'cannot clean up the sandbox of an ended command');
    }
  }

  /** Kills processes. Waits until one that is being started has begun. Never rejects. */
  async #kill(starts: readonly Start[]): Promise<void> {
    await this.#ender.kill(starts);
    for (const start of starts) this.#starts.delete(start);
  }
}

function programOf({ startedFor, argv, cwd, env }: ProcessSpec): ServerProgram | null {
  return startedFor === undefined ? null : { argv, cwd, env, ...startedFor };
}

function readerOf(spec: ProcessSpec): Start['reader'] {
  const program = programOf(spec);
  return program === null || spec.onExposed === undefined
    ? null
    : { program, onExposed: spec.onExposed };
}
