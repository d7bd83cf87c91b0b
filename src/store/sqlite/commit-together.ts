import { isBusy } from './connect/as-store-error.ts';
import type { JoinedWrite } from './store-queue.ts';

export interface CommitDeps {
  /** Runs the work in one transaction. */
  transact: <T>(work: () => T) => T;
  /** Runs a part of the transaction. If it throws, nothing of the part stays. */
  part: (run: () => void) => void;
  /**
   * Returns the error of a part whose failure leaves the others in their transaction. Throws other
   * errors.
   */
  failureOf: (error: unknown) => unknown;
}

/**
 * Commits writes in one transaction, and tells those that are committed. Returns the error of each
 * one that failed, and null for the others. Never throws.
 */
export function commitTogether(writes: readonly JoinedWrite[], deps: CommitDeps): unknown[] {
  const [only, second] = writes;
  try {
    const errors = deps.transact(() => {
      if (only === undefined || second !== undefined)
        return writes.map(({ run }) => commitPart(run, deps));
      only.run();
      return [null];
    });
    for (const [index, { committed }] of writes.entries()) if (errors[index] === null) committed();
    return errors;
  } catch (error) {
    // A failure of the transaction is the failure of one of the writes, unless it is too much for
    // the disk in any case.
    return second === undefined || isBusy(error)
      ? writes.map(() => error)
      : writes.flatMap((write) => commitTogether([write], deps));
  }
}

function commitPart(run: () => void, { part, failureOf }: CommitDeps): unknown {
  try {
    part(run);
    return null;
  } catch (error) {
    return failureOf(error);
  }
}
