import type { Log } from '../../src/base/log.ts';

export interface LogLine {
  level: 'debug' | 'info' | 'warn' | 'error';
  text: string;
  fields: Record<string, unknown>;
}

/**
 * Keeps the server's log. An error that the test does not take is a bug of the server, and fails
 * the test.
 */
export class RecordingLog implements Log {
  readonly lines: LogLine[] = [];
  readonly debug = this.#writer('debug');
  readonly info = this.#writer('info');
  readonly warn = this.#writer('warn');
  readonly error = this.#writer('error');

  /** The texts of the errors so far, which are forgotten with it. */
  takeErrors(): string[] {
    const errors = this.errors();
    for (const line of errors) this.lines.splice(this.lines.indexOf(line), 1);
    return errors.map(({ text }) => text);
  }

  /**
   * The moments at which parts of a turn have failed so far, which are forgotten with it. Any other
   * error stays.
   */
  takeFailedMoments(): unknown[] {
    const failures = this.errors().filter(({ text }) => text === 'a part of a turn failed');
    for (const line of failures) this.lines.splice(this.lines.indexOf(line), 1);
    return failures.map(({ fields }) => fields.moment);
  }

  errors(): LogLine[] {
    return this.lines.filter(({ level }) => level === 'error');
  }

  /** The texts of the warnings so far. */
  warnings(): string[] {
    return this.lines.filter(({ level }) => level === 'warn').map(({ text }) => text);
  }

  #writer(level: LogLine['level']): Log['error'] {
    return (...args: unknown[]) => {
      const [first, second] = args;
      const line =
        typeof first === 'string'
          ? { text: first, fields: {} }
          : { text: String(second), fields: { ...(first as object) } };
      this.lines.push({ level, ...line });
    };
  }
}
