import type { Ids } from '../base/ids.ts';
import { EPOCH_MS } from './virtual-clock.ts';

/** Ids that count up: UUIDs of version 7, all with the same millisecond. */
export class CountingIds implements Ids {
  #count = 0;

  next(): string {
    const [high = '', low = ''] = [
      EPOCH_MS.toString(16).padStart(12, '0'),
      (++this.#count).toString(16).padStart(12, '0'),
    ];
    return `${high.slice(0, 8)}-${high.slice(8)}-7000-8000-${low}`;
  }
}
