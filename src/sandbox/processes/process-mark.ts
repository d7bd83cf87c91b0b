import { randomBytes } from 'node:crypto';

/**
 * A mark that identifies a process and all processes that it starts, even if their parent or
 * session changes. The mark is in the environment. On Linux it is also the limit of file locks,
 * which has had no effect since Linux 2.6 and is inherited even if the environment is cleared.
 */
export interface ProcessMark {
  /** The environment variables with the mark. */
  env: Readonly<Record<string, string>>;
  lockLimit: number;
  /** Unique among the marks of this server, until the numbers start again. */
  number: number;
}

/** Its value has one word for each server above the process, the innermost first. */
const VARIABLE = 'HEDDLE_COMMAND';
/** The limit begins with nine digits of the server, and ends with six digits of the process. */
const NUMBERS_MAX = 1_000_000;
/**
 * Sets the limit that marks a process, with either option letter that shells use for it, and runs
 * the program.
 */
const MARKING = 'ulimit -w "$0" 2>/dev/null || ulimit -x "$0" 2>/dev/null; exec "$@"';
const KIB = 1024;

/** The marks of one server's processes. */
export class ProcessMarks {
  /** The prefix of this server's marks in the environment. No other server uses it. */
  readonly prefix = `${randomBytes(12).toString('hex')}-`;
  /** The prefix of this server's marks in the limits. Six digits follow. */
  readonly lockLimitPrefix = 100_000_000 + (randomBytes(4).readUInt32BE() % 900_000_000);
  readonly #outer: string;
  #count = 0;

  /** `outer` is the mark of this server itself, if another server started it. */
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

  /**
   * Returns the number of the mark in an environment, or null. The variables are separated by NULs
   * or spaces.
   */
  inEnvironment(text: string): number | null {
    const at = text.indexOf(this.prefix);
    return at === -1 ? null : Number.parseInt(text.slice(at + this.prefix.length), 10);
  }

  /** Returns the number of the mark in the limits of a process, as in /proc/PID/limits, or null. */
  inLimits(text: string): number | null {
    const limit = Number(/^Max file locks +(\d+) /m.exec(text)?.[1]);
    return Math.floor(limit / NUMBERS_MAX) === this.lockLimitPrefix ? limit % NUMBERS_MAX : null;
  }
}

/**
 * Returns the arguments to put before a program on Linux so that its limits have the mark.
 * `memoryBytesMax`: also limits its memory.
 */
export function markingArgv(
  { lockLimit }: ProcessMark,
  memoryBytesMax: number | undefined,
): readonly string[] {
  const limiting =
    memoryBytesMax === undefined ? '' : `ulimit -v ${Math.floor(memoryBytesMax / KIB)}; `;
  return ['/bin/sh', '-c', `${limiting}${MARKING}`, String(lockLimit)];
}
