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

/** A log that sends its lines. */
export function sendingLog(send: (level: keyof Log, fields: object, text: string) => void): Log {
  const at = (level: keyof Log): LogMethod => {
    return (...[first, text]: [object, string] | [string, undefined?]) =>
      typeof first === 'string' ? send(level, {}, first) : send(level, first, text ?? '');
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
