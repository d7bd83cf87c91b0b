import type { Clock } from '../../base/clock.ts';
import type { Env } from '../../base/env.ts';
import { AppendedFile } from '../../base/files/appended-file.ts';
import { isObject, parsedJson } from '../../base/json-value.ts';
import { cutText } from '../../base/text/cut-text.ts';
import { showJsonLine } from '../../base/text/show-text.ts';
import { idText } from '../../protocol/id-text.ts';
import { jsonRedactor } from '../../secrets/json-redactor.ts';
import type { WireTap } from '../../transport/wire-tap.ts';

/**
 * When the file has grown to this size, it is renamed to `FILE.1` and replaces an earlier one.
 * There are no more than these two.
 */
const FILE_BYTES_MAX = 16 * 1024 * 1024;
/** Longer strings in a message are truncated. */
const STRING_CHARS_MAX = 4 * 1024;
/** A message that is still longer, since it has many parts, is truncated itself. */
const MESSAGE_CHARS_MAX = 256 * 1024;

/**
 * Writes all messages in both directions to a file, one per line: `{"at": ISO time, "direction":
 * "in" | "out", "message": …}`, with `text`, its beginning, in place of `message` if that is too
 * long. For a message that is not JSON, only `reason` and `length` in characters. Secrets are
 * hidden and long strings truncated. Each line is written at once, so it is kept if the process
 * dies. Throws if the file cannot be opened. Lines that cannot be written later are dropped.
 */
export class WireLog implements WireTap {
  readonly #clock: Clock;
  readonly #env: Env;
  readonly #secrets = new Set<string>();
  #redact: (value: unknown) => unknown;
  /** Null: closed. */
  #file: AppendedFile | null;

  constructor(file: string, { clock, env }: { clock: Clock; env: Env }) {
    this.#file = new AppendedFile(file);
    this.#clock = clock;
    this.#env = env;
    this.#redact = jsonRedactor(env);
  }

  received(text: string): void {
    this.#write('in', text);
  }

  sent(text: string): void {
    this.#write('out', text);
  }

  hide(secrets: readonly string[]): void {
    const known = this.#secrets.size;
    for (const secret of secrets) this.#secrets.add(secret);
    if (this.#secrets.size > known) this.#redact = jsonRedactor(this.#env, [...this.#secrets]);
  }

  /** Later messages are not written. */
  close(): void {
    this.#file?.close();
    this.#file = null;
  }

  #write(direction: 'in' | 'out', text: string): void {
    if (this.#file === null) return;
    const at = new Date(this.#clock.now()).toISOString();
    const line = Buffer.from(
      showJsonLine(`{"at":"${at}","direction":"${direction}",${this.#content(text)}}\n`),
    );
    try {
      const bytes = this.#file.bytes();
      if (bytes > 0 && bytes + line.length > FILE_BYTES_MAX) this.#file.setAside('.1');
      this.#file.append(line);
    } catch {
      // A full disk must not stop the server, and there is no other place to report it.
    }
  }

  /** The members of a line that show the message, as JSON text. */
  #content(text: string): string {
    const message = parsedJson(text);
    if (message === undefined) return unshown(text, 'not JSON');
    let short: string;
    try {
      short = withId(message, text, (value) => JSON.stringify(this.#redact(value), cutStrings));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return unshown(text, 'nested too deep');
    }
    return short.length > MESSAGE_CHARS_MAX
      ? `"text":${JSON.stringify(cut(short, MESSAGE_CHARS_MAX))}`
      : `"message":${short}`;
  }
}

/**
 * The JSON text that `write` makes of a message. An integer id is exact, even if a JavaScript
 * number cannot hold it.
 */
function withId(message: unknown, text: string, write: (value: unknown) => string): string {
  if (!isObject(message) || typeof message.id !== 'number' || Number.isSafeInteger(message.id))
    return write(message);
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
