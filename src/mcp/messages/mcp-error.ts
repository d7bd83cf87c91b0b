import type { KnownErrors } from '../../base/worker/error-data.ts';

/**
 * Why a request or a connection failed. `server`: the server answered with an error. `closed`: the
 * connection ended. `sessionLost`: the server does not know the connection's session any more.
 * `unauthorized`: it wants a token, or another one.
 */
type McpErrorKind =
  | 'server'
  | 'closed'
  | 'sessionLost'
  | 'unauthorized'
  | 'timeout'
  | 'unavailable'
  | 'cancelled'
  | 'other';

export interface McpErrorDetails {
  /** The code of the server's error; null: the server did not answer with one. */
  code?: number | null;
  /**
   * The scopes that the server wants beyond those of the login. Null: it does not take the login,
   * or the error is another one.
   */
  scopes?: readonly string[] | null;
}

/** A server could not do what was asked. The message is for the model and for users. */
export class McpError extends Error {
  override readonly name = 'McpError';
  readonly kind: McpErrorKind;
  readonly code: number | null;
  readonly scopes: readonly string[] | null;

  constructor(
    kind: McpErrorKind,
    message: string,
    { code = null, scopes = null }: McpErrorDetails = {},
  ) {
    super(message);
    this.kind = kind;
    this.code = code;
    this.scopes = scopes;
  }
}

/** For workers. The host's script may have a copy of the class of its own. */
export const MCP_ERRORS: KnownErrors = {
  toData(error) {
    if (error.name !== 'McpError') return null;
    const { kind, code, scopes } = error as McpError;
    return { kind, code, scopes };
  },
  toError(data, message) {
    const { kind, ...details } = data as Pick<McpError, 'kind' | 'code' | 'scopes'>;
    return new McpError(kind, message, details);
  },
};
