import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { monotonicMs } from '../../base/clock.ts';

/** How long to wait for more output after the program has ended, if none arrives. */
const SILENCE_MS = 100;
/** How long to read after the program has ended, if output keeps arriving. */
const TAIL_MS_MAX = 1_000;
const POLL_MS = 20;
/** After so much time for passing on output, other work runs: Node reads many times in a row. */
const PASSING_MS_MAX = 5;

interface OutputSource {
  /** Starts to read and passes on the bytes. Returns null if there is nothing to read. */
  open: (onBytes: (bytes: Buffer) => void) => Readable | null;
  onData: (bytes: Buffer) => void;
}

/** The reading end of a process's output. */
export class OutputReader {
  readonly #streams: readonly Readable[];
  readonly #open: Set<Readable>;
  #paused = false;
  #hurried = false;
  #quietMs = 0;
  /**
   * The time for passing on output in this turn of the event loop. Null: nothing was passed on in
   * it.
   */
  #passingMs: number | null = null;
  #onResume = () => {};
  #onAllClosed = () => {};

  constructor(sources: readonly OutputSource[]) {
    this.#streams = sources.flatMap(({ open, onData }) => {
      const onBytes = (bytes: Buffer) => {
        this.#quietMs = 0;
        const startedMs = monotonicMs();
        onData(bytes);
        this.#rest(monotonicMs() - startedMs);
      };
      return open(onBytes) ?? [];
    });
    this.#open = new Set(this.#streams);
    for (const stream of this.#streams) {
      stream.on('error', () => {});
      stream.once('close', () => {
        this.#open.delete(stream);
        if (this.#open.size === 0) this.#onAllClosed();
      });
    }
  }

  pause(): void {
    if (this.#hurried) return;
    this.#paused = true;
    for (const stream of this.#streams) stream.pause();
  }

  resume(): void {
    this.#paused = false;
    for (const stream of this.#streams) stream.resume();
    this.#onResume();
  }

  /**
   * Stops reading until the next turn of the event loop, if passing on output has taken long in
   * this one.
   */
  #rest(ms: number): void {
    if (this.#passingMs === null) {
      setImmediate(() => {
        const hasRested = (this.#passingMs ?? 0) > PASSING_MS_MAX;
        this.#passingMs = null;
        if (hasRested && !this.#paused) for (const stream of this.#open) stream.resume();
      });
    }
    this.#passingMs = (this.#passingMs ?? 0) + ms;
    if (this.#passingMs > PASSING_MS_MAX) for (const stream of this.#open) stream.pause();
  }

  /** Resumes reading and ignores pauses from now on. */
  hurry(): void {
    this.#hurried = true;
    this.resume();
  }

  /** Resolves when reading is not paused and everything that was read has been passed on. */
  async given(): Promise<void> {
    do {
      if (this.#paused) await new Promise<void>((resolve) => (this.#onResume = resolve));
      await nextTurn();
    } while (
      this.#paused ||
      this.#streams.some(({ readableLength, destroyed }) => readableLength > 0 && !destroyed)
    );
  }

  /**
   * Call it after the program has ended. Resolves when everything that it wrote has been read, and
   * closes the streams. If other processes still hold them open, waits a moment, not counting
   * pauses, and returns false. Otherwise returns true.
   */
  async finish(): Promise<boolean> {
    this.#quietMs = 0;
    let tailMs = 0;
    const allClosed = await new Promise<boolean>((resolve) => {
      const over = (closed: boolean) => {
        clearInterval(timer);
        resolve(closed);
      };
      const timer = setInterval(() => {
        if (this.#paused) return;
        this.#quietMs += POLL_MS;
        tailMs += POLL_MS;
        if (this.#quietMs >= SILENCE_MS || tailMs >= TAIL_MS_MAX) over(false);
      }, POLL_MS);
      this.#onAllClosed = () => over(true);
      if (this.#open.size === 0) over(true);
    });
    for (const stream of this.#open) stream.removeAllListeners('data').destroy();
    return allClosed;
  }
}
