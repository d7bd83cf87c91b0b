/** The server refused a request, or failed at it. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  constructor(
    readonly method: string,
    /** The code of JSON-RPC. */
    readonly code: number,
    /** As the server said it. */
    message: string,
    /** `data.code` is a word that stays the same, where the server gives one. */
    readonly data: RequestErrorData,
  ) {
    super(message);
  }
}

export interface RequestErrorData {
  code?: string;
  [key: string]: unknown;
}

/** The server is gone, or the connection was closed: there will be no answer. The text says how it ended. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/** The answer took longer than the request's `timeoutMs`. The server may still do what it was asked. */
export class RequestTimeoutError extends Error {
  override readonly name = 'RequestTimeoutError';
}

/** Notifications came faster than they were read from an iterator, which has lost some and ends with this. */
export class OverflowError extends Error {
  override readonly name = 'OverflowError';
}
