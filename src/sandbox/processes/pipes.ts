import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { ProcessStartError } from './processes.ts';

/** The file descriptors of a pipe's two ends. That of this process does not block; a program inherits neither by itself. */
export interface PipeEnds {
  own: number;
  programs: number;
}

/** What a program does with its end. */
export type PipeUse = 'reads' | 'writes';

/** How few are too few: making some takes a program. */
const SPARE_MIN = 8;
/** How many times in a row it may fail before it is given up. */
const FAILURES_MAX = 3;
/** How many processes of that program hold pipes, and where each has them. */
const HOLDERS = 4;
const FILES_HELD = [3, 4, 5, 6, 7, 8];

/**
 * A shell keeps a text that is given in place in a pipe: for want of another way to a pipe, such texts, each a line feed, are held
 * open by processes that tell their ids, until their input ends.
 */
const HOLD = [
  // What runs in the background has no input unless it is put by.
  'exec 9<&0',
  'hold() { read -r pid _ </proc/self/stat; echo "$pid"; read -r _; }',
  `for holder in ${Array.from({ length: HOLDERS }, (_, index) => index).join(' ')}; do`,
  `hold <&9 ${FILES_HELD.map((file) => `${file}<<E`).join(' ')} &`,
  ...FILES_HELD.map(() => '\nE'),
  'done',
  'wait',
].join('\n');

/**
 * Pipes for the input and output of programs, on Linux: Node's own are sockets there, which a program cannot open anew as
 * /dev/stdin, /dev/stdout or /dev/stderr, and by which bash takes itself to be a remote login.
 */
export class Pipes {
  /** Both ends of a pipe at once, in one file descriptor. */
  #spare: number[] = [];
  #making: Promise<void> | null = null;
  #failures = 0;
  #none: boolean;

  constructor(platform: NodeJS.Platform) {
    this.#none = platform !== 'linux';
  }

  /** Makes some where there are few, without waiting for them. */
  prepare(): void {
    if (this.#spare.length < SPARE_MIN) void this.#make();
  }

  /**
   * Pipes for what a program does with them, in this order; null where they cannot be made, and Node's own must do. Rejects with
   * a `ProcessStartError` where this process has no file descriptors left.
   */
  async take(uses: readonly PipeUse[]): Promise<PipeEnds[] | null> {
    while (this.#spare.length < uses.length && !this.#none) await this.#make();
    if (this.#none) return null;
    return separate(this.#spare.splice(-uses.length), uses);
  }

  /** Gives up those that nobody took. */
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

/** Each with both ends in one file descriptor. None where they cannot be made. */
async function makePipes(): Promise<number[]> {
  const files: number[] = [];
  let input: Writable | null = null;
  try {
    const child = spawn('/bin/sh', ['-c', HOLD], { cwd: '/', env: {}, stdio: ['pipe', 'pipe', 'ignore'] });
    input = child.stdin.on('error', () => {});
    for (const pid of await holders(child)) for (const file of FILES_HELD) files.push(openHeld(`/proc/${pid}/fd/${file}`));
  } catch {
    for (const file of files.splice(0)) closeSync(file);
  } finally {
    input?.end();
  }
  return files;
}

/** Rejects where the program ends early. */
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

/** Throws the system's error, and where it is no pipe: some shells use files. */
function openHeld(path: string): number {
  const file = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFIFO()) throw new Error('this is no pipe');
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
    throw new ProcessStartError(`cannot open a pipe: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  } finally {
    for (const file of files) closeSync(file);
  }
}
