import type { McpProblem } from './to-host.ts';

/** A server could not do what was asked. The message is for the model and for users. */
export class McpError extends Error {
  override readonly name = 'McpError';
  readonly kind: McpProblem['kind'] | 'timeout' | 'unavailable' | 'cancelled';
  /** The code of the server's error; null: the server did not answer with one. */
  readonly code: number | null;

  constructor(kind: McpError['kind'], message: string, code: number | null = null) {
    super(message);
    this.kind = kind;
    this.code = code;
  }
}
