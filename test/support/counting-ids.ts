import type { Ids } from '../../src/base/ids.ts';

/** The nth id of a server with these ids: in the form of a UUIDv7, in order. */
export function idOf(n: number): string {
  return `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
}

/** Predictable ids: idOf(1), idOf(2), … */
export class CountingIds implements Ids {
  #last: number;

  /** `from` is the first number; two servers on one home need ranges of their own. */
  constructor(from = 1) {
    this.#last = from - 1;
  }

  next(): string {
    this.#last++;
    return idOf(this.#last);
  }
}
