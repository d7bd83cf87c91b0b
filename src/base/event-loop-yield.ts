import { setImmediate } from 'node:timers/promises';

/** Units of work between two yields. Handling so many lines, a unit each, takes some milliseconds. */
const UNITS_BETWEEN = 5_000;

/** Lets other work run from time to time during long work. Counts the work instead of timing it, so that all runs are alike. */
export class EventLoopYield {
  #done = 0;

  /** Await this between two parts of the work, with the number of units done. */
  async worked(units: number): Promise<void> {
    this.#done += units;
    if (this.#done < UNITS_BETWEEN) return;
    this.#done = 0;
    await setImmediate();
  }
}
