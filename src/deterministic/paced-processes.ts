import type { SandboxBounds } from '../policy/permissions/sandbox-bounds.ts';
import type {
  OutputStream,
  Processes,
  ProcessSpec,
  RunningProcess,
} from '../sandbox/processes/processes.ts';
import { PacedProcess } from './paced-process.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** A process that has slept this long waits for something that only the next message can bring. */
const BLOCKED_MS = 1_000;

interface PacedProcessesDeps {
  clock: VirtualClock;
  /** Counts work that waits for nothing but this machine. */
  during: <T>(work: Promise<T>) => Promise<T>;
}

/**
 * Processes whose output and ends are held back until `hearNext`. A process is heard only while
 * somebody waits for it, or after it was killed: a command in the background that nobody asks for
 * stays as it is, whatever it does.
 */
export class PacedProcesses implements Processes {
  readonly #inner: Processes;
  readonly #deps: PacedProcessesDeps;
  readonly #running = new Set<PacedProcess>();
  #started = 0;
  #released = false;

  constructor(inner: Processes, deps: PacedProcessesDeps) {
    this.#inner = inner;
    this.#deps = deps;
  }

  async start(
    spec: ProcessSpec,
    onOutput: (stream: OutputStream, bytes: Buffer) => void,
  ): Promise<RunningProcess> {
    const { clock, during } = this.#deps;
    const paced = new PacedProcess({
      number: ++this.#started,
      owner: spec.owner,
      clock,
      during,
      onOutput,
    });
    const inner = await during(
      this.#inner.start(spec, (stream, bytes) => paced.take(stream, bytes)),
    );
    paced.begin(inner);
    this.#running.add(paced);
    void paced.ended.then(() => this.#running.delete(paced));
    if (this.#released) paced.release();
    return paced;
  }

  prepare(bounds: SandboxBounds): Promise<void> {
    return this.#inner.prepare(bounds);
  }

  async killOwned(owner: readonly string[]): Promise<void> {
    for (const paced of this.#running)
      if (owner.every((word, index) => paced.owner[index] === word)) paced.hush();
    await this.#deps.during(this.#inner.killOwned(owner));
  }

  tidy(): Promise<void> {
    return this.#inner.tidy();
  }

  async close(): Promise<void> {
    this.release();
    await this.#inner.close();
  }

  /** To be called after each message of the client: it may be for a process. */
  messageCame(): void {
    for (const paced of this.#running) paced.stir();
  }

  /**
   * Passes on the next piece of output or the next end, and returns true. Waits for it as long as
   * the processes that somebody waits for do anything, the one with the earliest deadline first.
   * Returns false when they sleep: if time passes, when the first one has slept until its deadline.
   */
  async hearNext({ timePasses }: { timePasses: boolean }): Promise<boolean> {
    const waited = [...this.#running].filter(({ deadlineMs }) => deadlineMs !== null);
    waited.sort((a, b) => (a.deadlineMs ?? 0) - (b.deadlineMs ?? 0) || a.pid - b.pid);
    for (const paced of waited) {
      const hasDeadline = timePasses && Number.isFinite(paced.waitMs);
      if (await paced.hear(hasDeadline ? paced.waitMs : BLOCKED_MS)) return true;
      if (hasDeadline) return false;
    }
    return false;
  }

  /** From now on everything is passed on at once. */
  release(): void {
    this.#released = true;
    for (const paced of this.#running) paced.release();
  }
}
