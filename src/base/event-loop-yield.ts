import { setImmediate } from 'node:timers/promises';

/** Some milliseconds' worth of handling lines of text, one unit each. */
const UNITS_BETWEEN = 5_000;

/** Breaks in long work: others get their turn whenever much of it has been done. Counted, not timed, so that runs are alike. */
export class Breaks {
  #done = 0;

  /** To be awaited between two parts of the work. */
  async worked(units: number): Promise<void> {
    this.#done += units;
    if (this.#done < UNITS_BETWEEN) return;
    this.#done = 0;
    await setImmediate();
  }
}
