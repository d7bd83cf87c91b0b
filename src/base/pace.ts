/**
 * Decides when concurrent work continues. The order of its effects can so be made the same in every
 * run.
 */
export interface Pace {
  /** Resolves when the next of several pieces of work may begin that could all begin now. */
  mayBegin(): Promise<void>;
  /** To be called with work that waits for nothing but this machine. Returns the promise. */
  during<T>(work: Promise<T>): Promise<T>;
}

/** Everything continues at once. */
export const atOnce: Pace = { mayBegin: () => Promise.resolve(), during: (work) => work };
