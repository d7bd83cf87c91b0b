/** The errors of a room that keep their class when they become data. */
export interface KnownErrors {
  /** The data of one of them. Null: it is another error. */
  toData(error: Error): unknown;
  /** The error of these data. `options` has its cause. */
  toError(data: unknown, message: string, options: ErrorOptions): Error;
}

/** An error as data. Structured clones of errors lose their class and their code. */
export interface ErrorData {
  message: string;
  stack: string | null;
  /** The code of a system error or of SQLite. */
  code: string | null;
  cause: ErrorData | null;
  /** Set for an error that keeps its class. */
  known: unknown;
}

/** An error as data, with its causes. */
export function errorData(error: unknown, knownErrors?: KnownErrors): ErrorData {
  if (!(error instanceof Error))
    return { message: String(error), stack: null, code: null, cause: null, known: null };
  const { message, stack = null, cause } = error;
  const known = knownErrors?.toData(error) ?? null;
  const code =
    known === null && 'code' in error && typeof error.code === 'string' ? error.code : null;
  return {
    message,
    stack,
    code,
    cause: cause === undefined ? null : errorData(cause, knownErrors),
    known,
  };
}

/** The error again, with the stack that it had where it was thrown. */
export function errorOf(data: ErrorData, knownErrors?: KnownErrors): Error {
  const { message, stack, code, cause, known } = data;
  const options = cause === null ? {} : { cause: errorOf(cause, knownErrors) };
  const error =
    known === null || knownErrors === undefined
      ? new Error(message, options)
      : knownErrors.toError(known, message, options);
  return Object.assign(error, { stack: stack ?? message, ...(code !== null && { code }) });
}

/** The fields of a log line as data. */
export function fieldsData(fields: object, knownErrors?: KnownErrors): object {
  return mapFields(fields, (value) =>
    value instanceof Error ? { error: errorData(value, knownErrors) } : value,
  );
}

/** The fields of a log line again, with their errors. */
export function fieldsOf(fields: object, knownErrors?: KnownErrors): object {
  const isError = (value: unknown): value is { error: ErrorData } =>
    typeof value === 'object' && value !== null && 'error' in value;
  return mapFields(fields, (value) => (isError(value) ? errorOf(value.error, knownErrors) : value));
}

function mapFields(fields: object, change: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, change(value)]));
}
