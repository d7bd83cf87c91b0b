import type { Logger } from 'pino';

/** Structured log: ids as fields, the text constant. Never a prompt, an output or a key above `debug`. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
