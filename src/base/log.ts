/** A structured log: messages are constant, ids are fields. Prompts, outputs and keys are logged at `debug` only. A pino logger fits. */
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
