import { openFilesMax } from '../base/files/open-files-max.ts';

/** The sockets of one proxy. */
const OWN_MAX = 512;
/** The sockets of all proxies. */
const ALL_MAX = 4096;

/**
 * The sockets of all proxies, at most half of the files that this process can open. The fewer are
 * left, the fewer one proxy may have, so that something is always left for the next one.
 */
export class SocketBudget {
  readonly #max: number;
  #used = 0;

  /** `filesMax`: the number of files that this process can open. */
  constructor(filesMax = openFilesMax()) {
    this.#max = Math.min(ALL_MAX, Math.floor(filesMax / 2));
  }

  /** Whether a proxy that has so many sockets may have another one. */
  allows(own: number): boolean {
    return own < Math.min(OWN_MAX, this.#max - this.#used);
  }

  /** To be called with 1 for each new socket, and with -1 when it is closed. */
  count(change: 1 | -1): void {
    this.#used += change;
  }
}
