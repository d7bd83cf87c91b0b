import type { Clock } from '../base/clock.ts';
import type { Log, LogMethod } from '../base/log.ts';
import { cutText } from '../base/text/cut-text.ts';

/** How many messages are kept. */
const MESSAGES_MAX = 500;
/**
 * A longer message is kept in part. Twice what readers show, so that no secret is divided at the
 * end of that.
 */
const MESSAGE_CHARS_MAX = 8 * 1024;

/** A log that also keeps its last messages in memory, except those of the level `debug`. */
export class RecentLog implements Log {
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
  readonly #clock: Clock;
  #messages: string[] = [];

  constructor(log: Log, clock: Clock) {
    this.#clock = clock;
    this.debug = log.debug.bind(log);
    this.info = this.#keeping('info', log.info.bind(log));
    this.warn = this.#keeping('warn', log.warn.bind(log));
    this.error = this.#keeping('error', log.error.bind(log));
  }

  /** The last messages, oldest first, each as JSON text. A long one is cut, and then is no JSON. */
  messages(): string[] {
    return this.#messages.slice(-MESSAGES_MAX);
  }

  #keeping(level: string, write: LogMethod): LogMethod {
    return (...message: [object, string] | [string]) => {
      (write as (...line: unknown[]) => void)(...message);
      this.#keep(level, message);
    };
  }

  #keep(level: string, message: readonly unknown[]): void {
    const text = message.at(-1);
    const fields = message.length > 1 ? (message[0] as object) : {};
    const at = new Date(this.#clock.now()).toISOString();
    this.#messages.push(cutText(shown({ at, level, text, ...fields }), MESSAGE_CHARS_MAX));
    if (this.#messages.length >= 2 * MESSAGES_MAX) this.#messages = this.messages();
  }
}

function shown(message: object): string {
  try {
    return (
      JSON.stringify(message, (_key, value: unknown) =>
        value instanceof Error ? (value.stack ?? String(value)) : value,
      ) ?? ''
    );
  } catch {
    return JSON.stringify({ ...message, fields: 'could not be shown' }, [
      'at',
      'level',
      'text',
      'fields',
    ]);
  }
}
