import type { ErrorCode } from '../protocol/generated/error-code.ts';

/** The server responded to a request with an error. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  constructor(
    readonly method: string,
    /** The error code of JSON-RPC. */
    readonly code: number,
    /** The server's message. */
    message: string,
    /** `data.code` is a stable word, if the server sends one. */
    readonly data: RequestErrorData,
  ) {
    super(message);
  }
}

export interface RequestErrorData {
  /** A server of another make may send other strings, or none. */
  code?: ErrorCode;
  [key: string]: unknown;
}

/** The connection has ended, so there will be no response. The message says how it ended. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/**
 * No response came within the request's `timeoutMs`. The server may still carry out the request.
 */
export class RequestTimeoutError extends Error {
  override readonly name = 'RequestTimeoutError';
}

/**
 * Notifications came faster than an iterator was read. It has lost some, and ends with this error.
 */
export class OverflowError extends Error {
  override readonly name = 'OverflowError';
}
