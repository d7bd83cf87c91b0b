import type { McpProblem } from './to-host.ts';

/** A server could not do what was asked. The message is for the model and for users. */
export class McpError extends Error {
  override readonly name = 'McpError';
  readonly kind: McpProblem['kind'] | 'timeout' | 'unavailable' | 'cancelled';
  /** The code of the server's error; null: the server did not answer with one. */
  readonly code: number | null;

  /**
   * The scopes that the server wants beyond those of the login. Null: it does not take the login,
   * or the error is another one.
   */
  readonly scopes: readonly string[] | null;

  constructor(
    kind: McpError['kind'],
    message: string,
    {
      code = null,
      scopes = null,
    }: { code?: number | null; scopes?: readonly string[] | null } = {},
  ) {
    super(message);
    this.kind = kind;
    this.code = code;
    this.scopes = scopes;
  }
}
