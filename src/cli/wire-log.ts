import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { cutText } from '../base/cut-text.ts';
import type { Env } from '../base/env.ts';
import { isObject, parsedJson } from '../base/json-value.ts';
import { makeOpenFilePrivate } from '../base/make-private.ts';
import { hasErrorCode } from '../base/system-error-code.ts';
import { idText } from '../protocol/id-text.ts';
import { jsonRedactor } from '../secrets/json-redactor.ts';
import type { WireTap } from '../transport/wire-tap.ts';

/** When the file has grown so long it becomes `FILE.1`, in place of an earlier one: the two together are all there is. */
const FILE_BYTES_MAX = 16 * 1024 * 1024;
/** A longer string in a message is cut. */
const STRING_CHARS_MAX = 4 * 1024;
/** A message that is longer all the same, since it has many parts, is cut itself. */
const MESSAGE_CHARS_MAX = 256 * 1024;

/**
 * Writes every message of both directions to a file, one a line: `{"at": ISO time, "direction": "in" | "out", "message": …}`,
 * with `text`, its beginning, in place of `message` where that is too long; of what is no JSON, only `reason` and `length` in
 * characters. Secrets are hidden and long strings cut. Each line is written at once, so it is there when the process dies.
 * Throws when the file cannot be opened; what cannot be written later is left out.
 */
export class WireLog implements WireTap {
  readonly #file: string;
  readonly #clock: Clock;
  readonly #redact: (value: unknown) => unknown;
  /** Null: closed. */
  #descriptor: number | null;
  #bytes: number;

  constructor(file: string, { clock, env }: { clock: Clock; env: Env }) {
    this.#file = file;
    this.#clock = clock;
    this.#redact = jsonRedactor(env);
    this.#descriptor = open(file);
    this.#bytes = fstatSync(this.#descriptor).size;
  }

  received(text: string): void {
    this.#write('in', text);
  }

  sent(text: string): void {
    this.#write('out', text);
  }

  /** What comes after that is not written. */
  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #write(direction: 'in' | 'out', text: string): void {
    if (this.#descriptor === null) return;
    const at = new Date(this.#clock.now()).toISOString();
    const line = Buffer.from(`{"at":"${at}","direction":"${direction}",${this.#content(text)}}\n`);
    try {
      if (this.#bytes > 0 && this.#bytes + line.length > FILE_BYTES_MAX) this.#descriptor = this.#turn(this.#descriptor);
      this.#bytes += writeSync(this.#descriptor, line);
    } catch {
      // A full disk must not stop the server, and there is nobody else to tell.
    }
  }

  /** The members of a line that show what was sent, as JSON text. */
  #content(text: string): string {
    const message = parsedJson(text);
    if (message === undefined) return unshown(text, 'no JSON');
    let short: string;
    try {
      short = withId(message, text, (value) => JSON.stringify(this.#redact(value), cutStrings));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return unshown(text, 'nested too deep');
    }
    return short.length > MESSAGE_CHARS_MAX ? `"text":${JSON.stringify(cut(short, MESSAGE_CHARS_MAX))}` : `"message":${short}`;
  }

  /** Opens a new file in place of the full one, and gives its descriptor. Where that fails, the full one stays as it is. */
  #turn(full: number): number {
    try {
      renameSync(this.#file, `${this.#file}.1`);
    } catch (error) {
      // Somebody else, or an attempt before this, has moved it away.
      if (!hasErrorCode(error, ['ENOENT'])) throw error;
    }
    const fresh = open(this.#file);
    this.#bytes = 0;
    closeSync(full);
    return fresh;
  }
}

function open(file: string): number {
  const descriptor = openSync(file, 'a', 0o600);
  makeOpenFilePrivate(descriptor);
  return descriptor;
}

/** The JSON text that `write` makes of a message; an integer as its id is exact, also where a number of JavaScript is not. */
function withId(message: unknown, text: string, write: (value: unknown) => string): string {
  if (!isObject(message) || typeof message.id !== 'number' || Number.isSafeInteger(message.id)) return write(message);
  const exact = idText(message.id, text);
  if (exact === null) return write(message);
  const { id: _id, ...others } = message;
  const rest = write(others);
  return `{"id":${exact}${rest === '{}' ? '' : ','}${rest.slice(1)}`;
}

function unshown(text: string, reason: string): string {
  return `"reason":${JSON.stringify(reason)},"length":${text.length}`;
}

function cutStrings(_key: string, part: unknown): unknown {
  return typeof part === 'string' ? cut(part, STRING_CHARS_MAX) : part;
}

function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${cutText(text, charsMax)}… (${text.length} characters)`;
}
