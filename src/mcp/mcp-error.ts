import type { McpProblem } from './to-host.ts';

/** A server could not do what was asked. The message is for the model and for users. */
export class McpError extends Error {
  override readonly name = 'McpError';
  readonly kind: McpProblem['kind'] | 'timeout' | 'unavailable' | 'cancelled';
  /** The code of the server's error; null: the server did not answer with one. */
  readonly code: number | null;

  /** For `unauthorized`: the scopes that the server wants beyond those of the login. */
  readonly scopes: readonly string[];

  constructor(
    kind: McpError['kind'],
    message: string,
    { code = null, scopes = [] }: { code?: number | null; scopes?: readonly string[] } = {},
  ) {
    super(message);
    this.kind = kind;
    this.code = code;
    this.scopes = scopes;
  }
}
