import type { Logger } from 'pino';
import type { Log } from '../../base/log.ts';
import { showJsonLine } from '../../base/text/show-text.ts';

const METHODS = ['debug', 'info', 'warn', 'error'] as const;
const LEVELS = [...METHODS, 'off'] as const;

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
          logger ??= load();
          (logger[name] as (...line: unknown[]) => void)(...line);
        };
  return {
    debug: method('debug'),
    info: method('info'),
    warn: method('warn'),
    error: method('error'),
  };
}

export function isLogLevel(text: string): text is LogLevel {
  return LEVELS.some((level) => level === text);
}
