import { fstatSync, readdirSync, readFileSync, readlinkSync, writeSync } from 'node:fs';
import { systemErrorCode } from '../base/system-error-code.ts';

/** How long a client may be gone before it is noticed. */
const LOOK_MS = 2_000;

/** Soon, but not while it starts: then the reader is seen for the first time. */
const FIRST_LOOK_MS = 300;

const GONE = new Set(['EPIPE', 'ECONNRESET', 'ENOTCONN', 'EIO']);

export interface ClientWatch {
  /** The id of the process that started this one, as it is now. */
  parent: () => number;
  /** The file descriptor that the client reads from. */
  output: number;
  /** Called once, when the client is gone: the process that started this one, or the reader of what it writes. */
  onGone: (why: string) => void;
}

/**
 * Looks from time to time whether there still is a client, as one that dies may leave the input open. Does not keep the
 * process alive. Gives what ends it.
 */
export function watchClient({ parent, output, onGone }: ClientWatch): () => void {
  const parentAtStart = parent();
  const reader = new PipeReader(output);
  let timer: NodeJS.Timeout;
  const lookAfter = (ms: number) => {
    timer = setTimeout(() => {
      const why =
        parent() !== parentAtStart ? 'the process that started it has ended' : isClosed(output, reader) ? 'nobody reads it' : null;
      if (why === null) lookAfter(LOOK_MS);
      else onGone(why);
    }, ms);
    timer.unref();
  };
  lookAfter(FIRST_LOOK_MS);
  return () => clearTimeout(timer);
}

function isClosed(output: number, reader: PipeReader): boolean {
  try {
    // Nothing is written, but a socket without another end says so. So does a pipe, though not on Linux.
    writeSync(output, Buffer.alloc(0));
  } catch (error) {
    return GONE.has(systemErrorCode(error) ?? '');
  }
  return reader.isGone();
}

/**
 * Who reads a pipe, on Linux, where a pipe without a reader tells nothing before it is written to. Of readers that it has
 * never seen, another user's for one, it says nothing.
 */
class PipeReader {
  readonly #pipe: string | null;
  /** The reader's end, as a path in /proc. */
  #end: string | null = null;
  #seen = false;

  constructor(output: number) {
    this.#pipe = pipeName(output);
  }

  isGone(): boolean {
    if (this.#pipe === null) return false;
    if (this.#end !== null && this.#isEnd(this.#end)) return false;
    // Without a first sight there is nothing to miss; with one, a reader may have handed its end on.
    this.#end = this.#find();
    if (this.#end !== null) this.#seen = true;
    return this.#end === null && this.#seen;
  }

  #find(): string | null {
    for (const pid of list('/proc').filter((name) => /^\d+$/.test(name))) {
      for (const file of list(`/proc/${pid}/fd`)) {
        const end = `/proc/${pid}/fd/${file}`;
        if (this.#isEnd(end)) return end;
      }
    }
    return null;
  }

  #isEnd(path: string): boolean {
    try {
      if (readlinkSync(path) !== this.#pipe) return false;
      const flags = /^flags:\s+(\d+)/m.exec(readFileSync(path.replace('/fd/', '/fdinfo/'), 'latin1'))?.[1] ?? '1';
      return (Number.parseInt(flags, 8) & 3) === 0;
    } catch {
      return false;
    }
  }
}

/** Null: it is no pipe, or this is not Linux. */
function pipeName(file: number): string | null {
  try {
    return fstatSync(file).isFIFO() ? readlinkSync(`/proc/self/fd/${file}`) : null;
  } catch {
    return null;
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
