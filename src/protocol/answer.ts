/** The outcome of a request to clients. `aborted`: no client answered before the signal fired. */
export type Answer<Result> = { type: 'result'; result: Result } | { type: 'error'; message: string } | { type: 'aborted' };
