import { setImmediate } from 'node:timers/promises';
import { monotonicMs } from './clock.ts';

/** Units of work between two yields. Handling so many lines, a unit each, takes some milliseconds. */
const UNITS_BETWEEN = 5_000;
/** Time between two yields, however few units were done: the system can take long for some of them. */
const MS_BETWEEN = 5;

/** Lets other work run from time to time during long work. Several parts of the work can use it at once: they take turns. */
export class EventLoopYield {
  #done = 0;
  /** When the work since the last yield began. Null: there was no work yet. */
  #sinceMs: number | null = null;
  #yielded: Promise<void> = Promise.resolve();

  /** Await this between two parts of the work, with the number of units done. */
  async worked(units: number): Promise<void> {
    this.#done += units;
    this.#sinceMs ??= monotonicMs();
    if (this.#done < UNITS_BETWEEN && monotonicMs() - this.#sinceMs < MS_BETWEEN) return;
    await this.yielded();
  }

  /** Await this before a long piece of work that cannot be divided. */
  async yielded(): Promise<void> {
    // Only one part goes on in each round of the event loop.
    this.#yielded = this.#yielded.then(() => this.#yield());
    await this.#yielded;
  }

  async #yield(): Promise<void> {
    await setImmediate();
    this.#done = 0;
    this.#sinceMs = monotonicMs();
  }
}
