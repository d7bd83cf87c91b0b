import { monotonicMs } from '../../base/clock.ts';
import { cutText } from '../../base/text/cut-text.ts';

/** More useless messages than this within a second are without end. */
const A_SECOND_MAX = 10_000;
const SECOND_MS = 1_000;
const TOLD_CHARS_MAX = 500;

/**
 * Counts what a server sends that is of no use, such as lines that are not messages, and tells of
 * it at most once a second.
 */
export class UselessMessages {
  readonly #tell: (problem: string) => void;
  /** When the last one was told. */
  #toldMs = Number.NEGATIVE_INFINITY;
  /** How many have come since then. */
  #count = 0;

  constructor(tell: (problem: string) => void) {
    this.#tell = tell;
  }

  /** Returns whether there are so many that the server must be ended. */
  add(problem: string): boolean {
    this.#count++;
    const nowMs = monotonicMs();
    if (nowMs - this.#toldMs < SECOND_MS) return this.#count > A_SECOND_MAX;
    const more = this.#count > 1 ? ` (and ${this.#count - 1} others before it)` : '';
    this.#toldMs = nowMs;
    this.#count = 0;
    this.#tell(`${cutText(problem, TOLD_CHARS_MAX)}${more}`);
    return false;
  }
}
