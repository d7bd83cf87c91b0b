/** Structured log: ids as fields, the text constant. Never a prompt, an output or a key above `debug`. A pino logger fits. */
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
