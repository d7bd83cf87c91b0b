import { setImmediate } from 'node:timers/promises';

/** Some milliseconds' worth of handling lines of text, one unit each. */
const UNITS_BETWEEN = 5_000;

/** Lets other work run in the middle of long work, each time so much of it is done. Counted, not timed, so that runs are alike. */
export class EventLoopYield {
  #done = 0;

  /** To be awaited between two parts of the work. */
  async worked(units: number): Promise<void> {
    this.#done += units;
    if (this.#done < UNITS_BETWEEN) return;
    this.#done = 0;
    await setImmediate();
  }
}
