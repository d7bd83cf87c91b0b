import { fstatSync, writeSync } from 'node:fs';
import { namesInProc, type ProcPath, readProc, readProcLink } from '../base/files/read-proc.ts';
import { systemErrorCode } from '../base/system-error-code.ts';

/** The file descriptor of a process's output. */
export const STDOUT = 1;
/** The time between two checks. */
const LOOK_MS = 2_000;

/**
 * The time before the first check, which finds the reader: soon, but not while the server starts.
 */
const FIRST_LOOK_MS = 300;

const GONE = new Set(['EPIPE', 'ECONNRESET', 'ENOTCONN', 'EIO']);

export interface ClientWatch {
  /** Returns the present id of the parent process. */
  parent: () => number;
  /** The file descriptor of the pipe or socket that the client reads. */
  output: number;
  /** Called once when the client is gone: the parent process, or the reader of the output. */
  onGone: (why: string) => void;
}

/**
 * Checks regularly whether the client is still there, since a client that dies may leave the input
 * open. Does not keep the process alive. Returns a function that ends the checks.
 */
export function watchClient({ parent, output, onGone }: ClientWatch): () => void {
  const parentAtStart = parent();
  const reader = new PipeReader(output);
  let timer: NodeJS.Timeout;
  const lookAfter = (ms: number) => {
    timer = setTimeout(() => {
      const why =
        parent() !== parentAtStart
          ? 'the parent process has ended'
          : isClosed(output, reader)
            ? 'stdout has no reader'
            : null;
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
    // Writes no bytes, but fails for a socket without another end. It fails for a pipe too, but not
    // on Linux.
    writeSync(output, Buffer.alloc(0));
  } catch (error) {
    return GONE.has(systemErrorCode(error) ?? '');
  }
  return reader.isGone();
}

/**
 * Finds the reader of a pipe on Linux, where a pipe without a reader reports no error until it is
 * written to. A reader that was never seen, such as another user's process, does not count as gone.
 */
class PipeReader {
  readonly #pipe: string | null;
  /** The reader's end, as a path in /proc. */
  #end: ProcPath | null = null;
  #seen = false;

  constructor(output: number) {
    this.#pipe = pipeName(output);
  }

  isGone(): boolean {
    if (this.#pipe === null) return false;
    if (this.#end !== null && this.#isEnd(this.#end)) return false;
    // A reader that was never found cannot be missed. One that was found may have passed its end on
    // to another process.
    this.#end = this.#find();
    if (this.#end !== null) this.#seen = true;
    return this.#end === null && this.#seen;
  }

  #find(): ProcPath | null {
    for (const pid of list('/proc').filter((name) => /^\d+$/.test(name))) {
      for (const file of list(`/proc/${pid}/fd`)) {
        const end: ProcPath = `/proc/${pid}/fd/${file}`;
        if (this.#isEnd(end)) return end;
      }
    }
    return null;
  }

  #isEnd(path: ProcPath): boolean {
    try {
      if (readProcLink(path) !== this.#pipe) return false;
      const flags =
        /^flags:\s+(\d+)/m.exec(
          readProc(path.replace('/fd/', '/fdinfo/') as ProcPath) ?? '',
        )?.[1] ?? '1';
      return (Number.parseInt(flags, 8) & 3) === 0;
    } catch {
      return false;
    }
  }
}

/** The pipe's name. Returns null if the file is not a pipe, or the system is not Linux. */
function pipeName(file: number): string | null {
  try {
    return fstatSync(file).isFIFO() ? readProcLink(`/proc/self/fd/${file}`) : null;
  } catch {
    return null;
  }
}

function list(folder: '/proc' | ProcPath): string[] {
  try {
    return namesInProc(folder);
  } catch {
    return [];
  }
}
