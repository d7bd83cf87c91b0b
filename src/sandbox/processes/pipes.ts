import type { ChildProcessByStdio } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { mayStart, spawnProgram } from '../../base/processes/spawn-program.ts';
import { ProcessStartError } from './processes.ts';

/**
 * The file descriptors of the two ends of a pipe. `own` is non-blocking. Programs do not inherit
 * them unless they are passed.
 */
export interface PipeEnds {
  own: number;
  programs: number;
}

/** How the program uses its end. */
export type PipeUse = 'reads' | 'writes';

/** Below this number of spare pipes, more are made, because that takes a process and some time. */
const SPARE_MIN = 8;
/** The number of failures in a row after which no more pipes are made. */
const FAILURES_MAX = 3;
/** The number of holder processes, and the file descriptors at which each holds pipes. */
const HOLDERS = 4;
const FILES_HELD = [3, 4, 5, 6, 7, 8];

/**
 * Makes pipes with a shell, because Node cannot. The shell passes each here-document to a process
 * as a pipe. The holder processes print their pids and keep the pipes open until their input ends.
 * Each here-document is one line feed.
 */
const HOLD = [
  // A background process gets no input unless the shell's input is saved first.
  'exec 9<&0',
  'hold() { read -r pid _ </proc/self/stat; echo "$pid"; read -r _; }',
  `for holder in ${Array.from({ length: HOLDERS }, (_, index) => index).join(' ')}; do`,
  `hold <&9 ${FILES_HELD.map((file) => `${file}<<E`).join(' ')} &`,
  ...FILES_HELD.map(() => '\nE'),
  'done',
  'wait',
].join('\n');

/**
 * Pipes for the input and output of programs on Linux. Node uses sockets instead. A program cannot
 * open a socket as /dev/stdin, /dev/stdout or /dev/stderr, and bash behaves as in a remote login if
 * its input is a socket.
 */
export class Pipes {
  /** Each file descriptor is both ends of a pipe. */
  #spare: number[] = [];
  #making: Promise<void> | null = null;
  #failures = 0;
  #none: boolean;

  constructor(platform: NodeJS.Platform) {
    this.#none = platform !== 'linux';
  }

  /** Makes pipes in the background if few are left. */
  prepare(): void {
    if (this.#spare.length < SPARE_MIN) void this.#make();
  }

  /**
   * Returns a pipe for each use, in this order. Returns null if pipes cannot be made: then use
   * Node's own. Rejects with a `ProcessStartError` if this process has no file descriptors left.
   */
  async take(uses: readonly PipeUse[]): Promise<PipeEnds[] | null> {
    while (this.#spare.length < uses.length && !this.#none) await this.#make();
    if (this.#none) return null;
    return separate(this.#spare.splice(-uses.length), uses);
  }

  /** Closes the spare pipes. No more are made. */
  close(): void {
    this.#none = true;
    for (const file of this.#spare.splice(0)) closeSync(file);
  }

  #make(): Promise<void> {
    this.#making ??= this.#makeSome().finally(() => {
      this.#making = null;
    });
    return this.#making;
  }

  async #makeSome(): Promise<void> {
    if (this.#none) return;
    const made = await makePipes();
    this.#spare.push(...made);
    this.#failures = made.length === 0 ? this.#failures + 1 : 0;
    this.#none ||= this.#failures === FAILURES_MAX;
    if (this.#none) this.close();
  }
}

/** Each file descriptor is both ends of a pipe. Returns none if they cannot be made. */
async function makePipes(): Promise<number[]> {
  const files: number[] = [];
  let input: Writable | null = null;
  try {
    await mayStart();
    const child = spawnProgram('/bin/sh', ['-c', HOLD], {
      cwd: '/',
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    input = child.stdin.on('error', () => {});
    for (const pid of await holders(child))
      for (const file of FILES_HELD) files.push(openHeld(`/proc/${pid}/fd/${file}`));
  } catch {
    for (const file of files.splice(0)) closeSync(file);
  } finally {
    input?.end();
  }
  return files;
}

/** Returns the pids of the holder processes. Rejects if the shell ends early. */
function holders(child: ChildProcessByStdio<Writable, Readable, null>): Promise<string[]> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.setEncoding('latin1').on('data', (part: string) => {
      text += part;
      const pids = text.split('\n').slice(0, -1);
      if (pids.length === HOLDERS) resolve(pids);
    });
    child.once('error', reject).once('close', () => reject(new Error('the shell has ended')));
  });
}

/**
 * Opens a pipe of a holder process. Throws the system's error, or an error if it is not a pipe:
 * some shells use files.
 */
function openHeld(path: string): number {
  const file = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFIFO()) throw new Error('not a pipe');
    readSync(file, Buffer.alloc(1));
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function separate(files: readonly number[], uses: readonly PipeUse[]): PipeEnds[] {
  const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
  const opened: number[] = [];
  const open = (file: number | undefined, flags: number) => {
    const end = openSync(`/proc/self/fd/${file}`, flags);
    opened.push(end);
    return end;
  };
  try {
    return uses.map((use, index) => {
      const [own, programs] = use === 'writes' ? [O_RDONLY, O_WRONLY] : [O_WRONLY, O_RDONLY];
      return { own: open(files[index], own | O_NONBLOCK), programs: open(files[index], programs) };
    });
  } catch (error) {
    for (const end of opened) closeSync(end);
    throw new ProcessStartError(
      `cannot open a pipe: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  } finally {
    for (const file of files) closeSync(file);
  }
}
