import type { Logger } from 'pino';
import type { Log } from '../../base/log.ts';
import { showJsonLine } from '../../base/text/show-text.ts';

const METHODS = ['debug', 'info', 'warn', 'error'] as const;
const LEVELS = [...METHODS, 'off'] as const;
/** The numbers of the levels in a line, as pino writes them. */
const NUMBERS = { debug: 20, info: 30, warn: 40, error: 50 } as const;

export type LogLevel = (typeof LEVELS)[number];

/** The levels, from the fewest messages to the most. */
export const LOG_LEVELS: readonly LogLevel[] = [...LEVELS].reverse();

/**
 * A log of messages of at least this level. `write` gets whole lines. pino is loaded with the first
 * message.
 */
export function lazyLog(level: LogLevel, write: (line: string) => void): Log {
  let logger: Logger | null = null;
  const load = (): Logger => {
    const { pino } = require('pino') as typeof import('pino');
    // pino escapes only the control characters that JSON does not allow.
    return pino({ level: 'debug', base: null }, { write: (line) => write(showJsonLine(line)) });
  };
  const method = (name: (typeof METHODS)[number]): Log['error'] =>
    LEVELS.indexOf(name) < LEVELS.indexOf(level)
      ? () => {}
      : (...line: unknown[]) => {
          try {
            logger ??= load();
          } catch {
            // It is a file, and this process may have too many open: a later line tries again.
            return write(plainLine(name, line));
          }
          (logger[name] as (...line: unknown[]) => void)(...line);
        };
  return {
    debug: method('debug'),
    info: method('info'),
    warn: method('warn'),
    error: method('error'),
  };
}

/** A line without pino. */
function plainLine(level: (typeof METHODS)[number], [first, text]: readonly unknown[]): string {
  const [fields, msg] = typeof first === 'string' ? [{}, first] : [first, text];
  const line = { level: NUMBERS[level], time: Date.now(), ...(fields as object), msg };
  return showJsonLine(`${JSON.stringify(line, errorAsObject)}\n`);
}

function errorAsObject(_key: string, value: unknown): unknown {
  return value instanceof Error
    ? { type: value.name, message: value.message, stack: value.stack }
    : value;
}

export function isLogLevel(text: string): text is LogLevel {
  return LEVELS.some((level) => level === text);
}
