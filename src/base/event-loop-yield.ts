import { setImmediate as nextRound } from 'node:timers/promises';
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

/** True: only units of work count, so that the order of work does not depend on time. */
let isTimeless = false;

/** From now on, long work of this process yields by its units alone, so in the same places. */
export function yieldByUnits(): void {
  isTimeless = true;
}

/** When the long work of this round of the event loop began. Null: there was none so far. */
let roundSinceMs: number | null = null;

/** How long ago the first long work of this round of the event loop was. */
function workedInRoundMs(): number {
  const nowMs = monotonicMs();
  if (roundSinceMs === null) {
    roundSinceMs = nowMs;
    setImmediate(() => {
      roundSinceMs = null;
    });
  }
  return nowMs - roundSinceMs;
}

/**
 * Lets other work run from time to time during long work. All long work takes turns: in each round
 * of the event loop it takes some milliseconds, however many objects do it. Work that is due in a
 * round after that goes on in later rounds, one piece in each.
 */
export class EventLoopYield {
  #done = 0;

  /** Await this between two parts of the work, with the number of units done. */
  async worked(units: number): Promise<void> {
    this.#done += units;
    if (this.#done < UNITS_BETWEEN && (isTimeless || workedInRoundMs() < MS_BETWEEN)) return;
    await this.yielded();
  }

  /** Await this before a long piece of work that cannot be divided. */
  async yielded(): Promise<void> {
    turn = turn.then(() => nextRound());
    await turn;
    this.#done = 0;
  }
}
