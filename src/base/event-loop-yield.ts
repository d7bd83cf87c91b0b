import { setImmediate } from 'node:timers/promises';
import { monotonicMs } from './clock.ts';

/**
 * Units of work between two yields. Handling so many lines, a unit each, takes some milliseconds.
 */
const UNITS_BETWEEN = 5_000;
/**
 * Time between two yields, however few units were done: the system can take long for some of them.
 */
const MS_BETWEEN = 5;

/**
 * Whose turn it is: all long work of this thread, of whatever object, waits behind it. Otherwise as
 * many pieces of work as there are would go on in the same round of the event loop.
 */
let turn: Promise<void> = Promise.resolve();

/**
 * Lets other work run from time to time during long work. All long work takes turns: in each round
 * of the event loop only one piece goes on, for some milliseconds.
 *
 * Time in which an object waits, or has nothing to do, counts as time of its work. So its first
 * work after a pause goes on behind all that waits then. That is a delay of some rounds, and many
 * objects that begin to work in one round do not do all of it in that round.
 */
export class EventLoopYield {
  #done = 0;
  /** When the work since the last yield began. Null: there was no work yet. */
  #sinceMs: number | null = null;

  /** Await this between two parts of the work, with the number of units done. */
  async worked(units: number): Promise<void> {
    this.#done += units;
    this.#sinceMs ??= monotonicMs();
    if (this.#done < UNITS_BETWEEN && monotonicMs() - this.#sinceMs < MS_BETWEEN) return;
    await this.yielded();
  }

  /** Await this before a long piece of work that cannot be divided. */
  async yielded(): Promise<void> {
    turn = turn.then(() => setImmediate());
    await turn;
    this.#done = 0;
    this.#sinceMs = monotonicMs();
  }
}
