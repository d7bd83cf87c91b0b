import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { cutText } from '../base/cut-text.ts';
import type { Env } from '../config/config.ts';
import type { WireTap } from '../transport/wire-tap.ts';
import { secretHider } from './hide-secrets.ts';

/** When the file has grown so long it becomes `FILE.1`, in place of an earlier one: the two together are all there is. */
const FILE_BYTES_MAX = 16 * 1024 * 1024;
/** A longer string in a message is cut. */
const STRING_CHARS_MAX = 4 * 1024;
/** A message that is longer all the same, since it has many parts, is cut itself. */
const MESSAGE_CHARS_MAX = 256 * 1024;

/**
 * Writes every message of both directions to a file, one a line: `{"at": ISO time, "direction": "in" | "out", "message": …}`,
 * or `text` in place of `message` where that is no JSON or too long. Secrets are hidden and long strings cut. Each line is
 * written at once, so it is there when the process dies. Throws when the file cannot be opened; what cannot be written
 * later is left out.
 */
export class WireLog implements WireTap {
  readonly #file: string;
  readonly #clock: Clock;
  readonly #hide: (value: unknown) => unknown;
  #descriptor: number;
  #bytes: number;

  constructor(file: string, { clock, env }: { clock: Clock; env: Env }) {
    this.#file = file;
    this.#clock = clock;
    this.#hide = secretHider(env);
    this.#descriptor = open(file);
    this.#bytes = fstatSync(this.#descriptor).size;
  }

  received(text: string): void {
    this.#write('in', text);
  }

  sent(text: string): void {
    this.#write('out', text);
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #write(direction: 'in' | 'out', text: string): void {
    const at = new Date(this.#clock.now()).toISOString();
    const line = Buffer.from(`${JSON.stringify({ at, direction, ...this.#content(text) })}\n`);
    try {
      if (this.#bytes > 0 && this.#bytes + line.length > FILE_BYTES_MAX) this.#turn();
      this.#bytes += writeSync(this.#descriptor, line);
    } catch {
      // A full disk must not stop the server, and there is nobody else to tell.
    }
  }

  #content(text: string): { message: unknown } | { text: unknown } {
    try {
      const short = JSON.stringify(this.#hide(JSON.parse(text)), (_key, part: unknown) =>
        typeof part === 'string' ? cut(part, STRING_CHARS_MAX) : part,
      );
      return short.length > MESSAGE_CHARS_MAX ? { text: cut(short, MESSAGE_CHARS_MAX) } : { message: JSON.parse(short) };
    } catch {
      // No JSON, or nested too deep for it.
      return { text: cut(String(this.#hide(text)), STRING_CHARS_MAX) };
    }
  }

  #turn(): void {
    closeSync(this.#descriptor);
    renameSync(this.#file, `${this.#file}.1`);
    this.#descriptor = open(this.#file);
    this.#bytes = 0;
  }
}

function open(file: string): number {
  return openSync(file, 'a', 0o600);
}

function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${cutText(text, charsMax)}… (${text.length} characters)`;
}
