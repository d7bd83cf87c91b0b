/**
 * A structured log: messages are constant, ids are fields. Never log prompts, outputs or keys. A
 * pino logger has this type.
 */
export interface Log {
  debug: LogMethod;
  info: LogMethod;
  warn: LogMethod;
  error: LogMethod;
}

export interface LogMethod {
  (fields: object, text: string): void;
  (text: string): void;
}

/** Logs nothing. */
export const SILENT_LOG: Log = { debug() {}, info() {}, warn() {}, error() {} };
