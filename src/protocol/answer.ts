/**
 * The outcome of a request to clients. `error`: every client that could answer did so with an
 * error. `timeout`: no client answered within this time. `clientGone`: no client is left that could
 * answer. `aborted`: no client answered before the signal fired.
 */
export type Answer<Result> =
  | { type: 'result'; result: Result }
  | { type: 'error'; message: string }
  | { type: 'timeout'; ms: number }
  | { type: 'clientGone' }
  | { type: 'aborted' };
