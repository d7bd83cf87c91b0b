import { openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { ReadStream } from 'node:tty';
import { systemErrorCode } from '../../../base/system-error-code.ts';

/** The common part of `process.stdin` and a `ReadStream` of node:tty. */
export type KeyboardStream = Readable & { isTTY?: boolean; setRawMode?(raw: boolean): unknown };

const INTERRUPT = '\x03';
const END = '\x04';

/** Reads what a person types at the terminal, only while a question is open. */
export class Keyboard {
  readonly #stream: KeyboardStream;
  readonly #onInterrupt: () => void;
  #typed = '';
  #hasEnded = false;
  #wake = () => {};

  /** `onInterrupt` is called for Ctrl-C while the terminal passes it on as a character. */
  constructor(stream: KeyboardStream, onInterrupt: () => void) {
    this.#stream = stream;
    this.#onInterrupt = onInterrupt;
    stream.setEncoding('utf8');
    stream.pause();
    stream.on('data', (text: string) => {
      this.#typed += text;
      this.#wake();
    });
    for (const event of ['end', 'close', 'error'])
      stream.on(event, () => {
        this.#hasEnded = true;
        this.#wake();
      });
  }

  /** Begins to read, and drops what was typed before the question could be seen. */
  async open(): Promise<void> {
    if (this.#hasEnded) return;
    // Without the mode of lines, the terminal also gives up a line that is not complete.
    this.#stream.setRawMode?.(true);
    this.#stream.resume();
    for (let round = 0; round < 3; round++)
      await new Promise<void>((resolve) => setImmediate(resolve));
    this.#stream.setRawMode?.(false);
    if (this.#typed.includes(INTERRUPT)) this.#onInterrupt();
    this.#typed = '';
  }

  close(): void {
    this.#stream.pause();
  }

  /** A line without its end. Null: the person ends the input. Rejects with the signal's reason. */
  async line(signal: AbortSignal): Promise<string | null> {
    for (;;) {
      signal.throwIfAborted();
      const end = this.#typed.indexOf('\n');
      if (end >= 0) {
        const line = this.#typed.slice(0, end);
        this.#typed = this.#typed.slice(end + 1);
        return line.replace(/\r$/, '');
      }
      if (this.#hasEnded) return null;
      await this.#more(signal);
    }
  }

  /** The same for a line that the terminal does not show. */
  async hiddenLine(signal: AbortSignal): Promise<string | null> {
    this.#stream.setRawMode?.(true);
    try {
      return await this.#keys(signal);
    } finally {
      this.#stream.setRawMode?.(false);
    }
  }

  async #keys(signal: AbortSignal): Promise<string | null> {
    const line: string[] = [];
    for (;;) {
      signal.throwIfAborted();
      const key = this.#nextKey();
      if (key === '\r' || key === '\n') return line.join('');
      if (key === null && this.#hasEnded) return null;
      if (key === END && line.length === 0) return null;
      if (key === INTERRUPT) this.#onInterrupt();
      if (key === null) await this.#more(signal);
      else edit(line, key);
    }
  }

  /** Null: none was typed. */
  #nextKey(): string | null {
    const [key = null] = this.#typed;
    if (key !== null) this.#typed = this.#typed.slice(key.length);
    return key;
  }

  #more(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        signal.removeEventListener('abort', done);
        this.#wake = () => {};
        resolve();
      };
      signal.addEventListener('abort', done);
      this.#wake = done;
      if (signal.aborted) done();
    });
  }
}

function edit(line: string[], key: string): void {
  if (key === '\x7f' || key === '\b') line.pop();
  else if (key === '\x15') line.length = 0;
  else if (key >= ' ') line.push(key);
}

/**
 * The terminal that a person types at: stdin, else the one that controls the process. Null: there
 * is none.
 */
export function openTerminal(stdin: KeyboardStream): KeyboardStream | null {
  if (stdin.isTTY === true && !stdin.readableEnded) return stdin;
  try {
    return new ReadStream(openSync('/dev/tty', 'r'));
  } catch (error) {
    if (systemErrorCode(error) === null) throw error;
    return null;
  }
}
