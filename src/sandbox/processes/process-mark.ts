import { randomBytes } from 'node:crypto';

/**
 * What a process is known by that was started here, and all that it starts, wherever that has gone. It is in its environment,
 * and on Linux it is also its limit of file locks, which limits nothing since Linux 2.6 and is inherited where an environment
 * has been cleared.
 */
export interface ProcessMark {
  /** The environment variables that carry it. */
  env: Readonly<Record<string, string>>;
  lockLimit: number;
  /** Tells it from others of this server. */
  number: number;
}

/** The variable's value is a word for each server that the process is below of, the innermost first. */
const VARIABLE = 'HEDDLE_COMMAND';
/** The limit of a server's processes begins with a number of nine digits, and ends with that of the process. */
const NUMBERS_MAX = 1_000_000;

/** The marks of one server's processes. */
export class ProcessMarks {
  /** What the words of this server's marks begin with. It is in no other process's environment. */
  readonly prefix = `${randomBytes(12).toString('hex')}-`;
  /** What the limits of this server's marks begin with; six digits follow. */
  readonly lockLimitPrefix = 100_000_000 + (randomBytes(4).readUInt32BE() % 900_000_000);
  readonly #outer: string;
  #count = 0;

  /** `outer` is the server's own mark, where another server started it. */
  constructor(outer: string | undefined) {
    this.#outer = outer === undefined ? '' : ` ${outer}`;
  }

  next(): ProcessMark {
    const number = this.#count++ % NUMBERS_MAX;
    return {
      env: { [VARIABLE]: `${this.prefix}${number}${this.#outer}` },
      lockLimit: this.lockLimitPrefix * NUMBERS_MAX + number,
      number,
    };
  }

  /** The number of the mark in an environment, given as its variables with a NUL or a blank between them; null: it has none. */
  inEnvironment(text: string): number | null {
    const at = text.indexOf(this.prefix);
    return at === -1 ? null : Number.parseInt(text.slice(at + this.prefix.length), 10);
  }

  /** The number of the mark in a process's limits, given as Linux tells them; null: it has none. */
  inLimits(text: string): number | null {
    const limit = Number(/^Max file locks +(\d+) /m.exec(text)?.[1]);
    return Math.floor(limit / NUMBERS_MAX) === this.lockLimitPrefix ? limit % NUMBERS_MAX : null;
  }
}
