import { nextTick } from 'node:process';
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

/** A piece of work that waits for its turn. */
interface Waiting {
  goOn(): void;
  /** It is long and cannot be divided. It begins a round of the event loop, and ends it. */
  isWhole: boolean;
}

/** The pieces that wait: of all long work of this thread, whichever object does it. */
const waiting: Waiting[] = [];
let isGivingTurns = false;

/** True: only units of work count, so that the order of work does not depend on time. */
let isTimeless = false;

/** From now on, long work of this process yields by its units alone, so in the same places. */
export function yieldByUnits(): void {
  isTimeless = true;
}

/** When the long work of this round of the event loop began. Null: there was none so far. */
let roundSinceMs: number | null = null;

/** Long work begins in this round of the event loop. Returns when. */
function beginRound(): number {
  const sinceMs = monotonicMs();
  roundSinceMs = sinceMs;
  setImmediate(() => {
    if (roundSinceMs === sinceMs) roundSinceMs = null;
  });
  return sinceMs;
}

/** How long ago the first long work of this round of the event loop was. */
function workedInRoundMs(): number {
  return monotonicMs() - (roundSinceMs ?? beginRound());
}

/** Lets what waits go on, in its order, until nothing waits. */
async function giveTurns(): Promise<void> {
  isGivingTurns = true;
  while (waiting.length > 0) {
    await nextRound();
    beginRound();
    let isFull = isTimeless;
    // A piece that waits again after its turn goes on in a later round.
    let left = waiting.length;
    do {
      left--;
      const next = waiting.shift();
      next?.goOn();
      await currentWork();
      isFull ||= next?.isWhole === true || waiting[0]?.isWhole === true;
    } while (left > 0 && !isFull && workedInRoundMs() < MS_BETWEEN);
  }
  isGivingTurns = false;
}

/** Resolves when the work that goes on waits for something. */
function currentWork(): Promise<void> {
  return new Promise((resolve) => {
    nextTick(resolve);
  });
}

/**
 * Lets other work run from time to time during long work. All long work takes turns: in each round
 * of the event loop it takes some milliseconds, however many objects do it. Work that is due in a
 * round after that goes on in later rounds, in its order.
 */
export class EventLoopYield {
  #done = 0;

  /** Await this between two parts of the work, with the number of units done. */
  async worked(units: number): Promise<void> {
    this.#done += units;
    if (this.#done < UNITS_BETWEEN && (isTimeless || workedInRoundMs() < MS_BETWEEN)) return;
    await this.#turn(false);
  }

  /** Await this before a long piece of work that cannot be divided. */
  async yielded(): Promise<void> {
    await this.#turn(true);
  }

  async #turn(isWhole: boolean): Promise<void> {
    await new Promise<void>((resolve) => {
      waiting.push({ goOn: resolve, isWhole });
      if (!isGivingTurns) void giveTurns();
    });
    this.#done = 0;
  }
}
