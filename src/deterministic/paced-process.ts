import { setImmediate } from 'node:timers/promises';
import { monotonicMs } from '../base/clock.ts';
import type {
  OutputStream,
  ProcessEnd,
  RunningProcess,
  TerminalSize,
} from '../sandbox/processes/processes.ts';
import { EXIT_CODE } from '../tools/command/sessions/exit-code.ts';
import type { VirtualClock } from './virtual-clock.ts';

/**
 * Output is passed on in pieces of this size, and the rest when the process sleeps or has ended.
 */
const PIECE_BYTES = 64 * 1024;
/** A process with more output that was not passed on waits. */
const HELD_BYTES_MAX = 1024 * 1024;
/** How often a process is looked at. */
const LOOK_MS = 50;
/**
 * A process that never sleeps is waited for this long by each call, and for each message, in real
 * time.
 */
const BUSY_MS_MAX = 120_000;
/** A process that never stops printing is heard until it has printed so much. */
const HEARD_BYTES_MAX = 64 * 1024 * 1024;

interface PacedProcessOptions {
  /** Shown in place of its pid. */
  number: number;
  owner: readonly string[];
  clock: VirtualClock;
  /** Counts work that waits for nothing but this machine. */
  during: <T>(work: Promise<T>) => Promise<T>;
  onOutput: (stream: OutputStream, bytes: Buffer) => void;
}

interface Wait {
  ms: number;
  deadlineMs: number;
}

/** A process whose output and end are held back until `hear`. */
export class PacedProcess implements RunningProcess {
  readonly pid: number;
  readonly owner: readonly string[];
  readonly ended: Promise<ProcessEnd>;
  readonly #options: PacedProcessOptions;
  readonly #waits = new Set<Wait>();
  #inner: RunningProcess | null = null;
  #held: Record<OutputStream, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  #arrived: { stream: OutputStream; bytes: Buffer }[] = [];
  #arrivedBytes = 0;
  #end: ProcessEnd | null = null;
  #tellEnd: (end: ProcessEnd) => void = () => {};
  #isOver = false;
  #isHushed = false;
  #isReleased = false;
  #isPaused = false;
  /** How long all its processes have slept without output, in real milliseconds. */
  #sleptMs = 0;
  /** Its processes at the last look, if all of them slept. */
  #sleepers: string | null = null;
  #lookedMs = 0;
  /** Since when it is waited for, and how much was heard since then. */
  #sinceMs = 0;
  #heardBytes = 0;
  #wake = () => {};

  constructor(options: PacedProcessOptions) {
    this.#options = options;
    this.pid = options.number;
    this.owner = options.owner;
    this.ended = new Promise((resolve) => {
      this.#tellEnd = resolve;
    });
  }

  /** To be called when it has started. */
  begin(inner: RunningProcess): void {
    this.#inner = inner;
    void inner.ended.then((end) => {
      this.#end = end;
      this.#stirred();
    });
  }

  /** Takes output as it comes. */
  take(stream: OutputStream, bytes: Buffer): void {
    if (this.#isHushed) return;
    this.#arrived.push({ stream, bytes: Buffer.from(bytes) });
    this.#arrivedBytes += bytes.length;
    this.#stirred();
    if (this.#heldBytes >= HELD_BYTES_MAX) this.#inner?.pause();
  }

  /** When the first wait for it ends. Null: nobody waits for it. */
  get deadlineMs(): number | null {
    if (this.#isHushed) return 0;
    return this.#waits.size === 0
      ? null
      : Math.min(...[...this.#waits].map(({ deadlineMs }) => deadlineMs));
  }

  /** How long the first wait for it takes. A killed one is waited for until it has ended. */
  get waitMs(): number {
    if (this.#isHushed) return Number.POSITIVE_INFINITY;
    const first = [...this.#waits].sort((a, b) => a.deadlineMs - b.deadlineMs)[0];
    return first?.ms ?? 0;
  }

  attend(waitMs: number): () => void {
    const wait = { ms: waitMs, deadlineMs: this.#options.clock.now() + waitMs };
    this.#waits.add(wait);
    this.stir();
    return () => void this.#waits.delete(wait);
  }

  /** To be called when something may have made it work again, or somebody waits for it anew. */
  stir(): void {
    this.#sinceMs = monotonicMs();
    this.#heardBytes = 0;
    this.#wokeUp();
  }

  /**
   * Passes on a piece of its output, or its end, and returns true. Waits for it until the process
   * has slept for `ms`, and then passes on all output so far. Returns false if there is nothing, or
   * if the process was waited for long enough.
   */
  async hear(ms: number): Promise<boolean> {
    while (
      this.#end !== null ||
      (this.#heardBytes < HEARD_BYTES_MAX && monotonicMs() - this.#sinceMs < BUSY_MS_MAX)
    ) {
      if (this.#passOn({ all: false })) return true;
      if (this.#sleptMs >= ms) return this.#passOn({ all: true });
      await this.#look();
    }
    return false;
  }

  async write(data: Buffer): Promise<void> {
    this.stir();
    await this.#inner?.write(data);
  }

  endInput(): void {
    this.stir();
    this.#inner?.endInput();
  }

  resize(size: TerminalSize): void {
    this.stir();
    this.#inner?.resize(size);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#stirred();
  }

  async waiting(): Promise<string | null> {
    return (await this.#inner?.waiting()) ?? null;
  }

  async interrupt(): Promise<void> {
    this.stir();
    if (this.#inner !== null) await this.#options.during(this.#inner.interrupt());
  }

  async terminate(): Promise<void> {
    this.stir();
    if (this.#inner !== null) await this.#options.during(this.#inner.terminate());
  }

  async kill(): Promise<void> {
    this.hush();
    if (this.#inner !== null) await this.#options.during(this.#inner.kill());
  }

  /**
   * It is being killed: drops what was not passed on. Its end counts as caused by the kill, even if
   * it has just ended by itself.
   */
  hush(): void {
    if (this.#isOver) return;
    this.#isHushed = true;
    this.#arrived = [];
    this.#held = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
    this.#inner?.resume();
  }

  /** Passes on everything from now on at once. */
  release(): void {
    this.#isReleased = true;
    this.#stirred();
  }

  get #heldBytes(): number {
    return this.#arrivedBytes + this.#held.stdout.length + this.#held.stderr.length;
  }

  /** Something was written, or it has ended. */
  #stirred(): void {
    this.#wokeUp();
    while (this.#isReleased && this.#passOn({ all: true }));
    this.#wake();
  }

  #wokeUp(): void {
    this.#sleptMs = 0;
    this.#sleepers = null;
  }

  /** Passes on one thing, if there is one. */
  #passOn({ all }: { all: boolean }): boolean {
    if (this.#isPaused && !this.#isHushed) return false;
    const piece = this.#nextPiece(all || this.#end !== null);
    if (piece !== null) {
      this.#heardBytes += piece.bytes.length;
      this.#options.onOutput(piece.stream, piece.bytes);
      if (this.#heldBytes < HELD_BYTES_MAX) this.#inner?.resume();
      return true;
    }
    if (this.#end === null || this.#isOver) return false;
    this.#isOver = true;
    this.#tellEnd(this.#isHushed ? { ...this.#end, exitCode: EXIT_CODE.killed } : this.#end);
    return true;
  }

  /**
   * Takes a piece of output. stderr waits until the process sleeps or has ended: which stream is
   * read first depends on chance.
   */
  #nextPiece(all: boolean): { stream: OutputStream; bytes: Buffer } | null {
    if (this.#heldBytes === 0) return null;
    for (const stream of ['stdout', 'stderr'] as const) {
      const parts = this.#arrived
        .filter((part) => part.stream === stream)
        .map(({ bytes }) => bytes);
      if (parts.length > 0) this.#held[stream] = Buffer.concat([this.#held[stream], ...parts]);
    }
    this.#arrived = [];
    this.#arrivedBytes = 0;
    const isFull = this.#heldBytes >= HELD_BYTES_MAX;
    for (const [stream, enough] of [
      ['stdout', PIECE_BYTES],
      ['stderr', Number.POSITIVE_INFINITY],
    ] as const) {
      const held = this.#held[stream];
      if (held.length === 0 || (held.length < enough && !all && !isFull)) continue;
      this.#held[stream] = held.subarray(PIECE_BYTES);
      return { stream, bytes: held.subarray(0, PIECE_BYTES) };
    }
    return null;
  }

  /** Waits a moment, less if something comes, and looks whether its processes sleep. */
  async #look(): Promise<void> {
    const isStirred = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), LOOK_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
    this.#wake = () => {};
    if (isStirred) return;
    const before = this.#sleepers;
    const sleepers = await this.waiting();
    // This round of the event loop reads the output that was written before the look. That resets
    // `#sleepers`.
    await setImmediate();
    const nowMs = monotonicMs();
    if (sleepers !== null && sleepers === this.#sleepers) this.#sleptMs += nowMs - this.#lookedMs;
    else this.#sleptMs = 0;
    if (before === this.#sleepers) this.#sleepers = sleepers;
    this.#lookedMs = nowMs;
  }
}
