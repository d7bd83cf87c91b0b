import { SANDBOX_MODES } from './sandbox-modes.ts';

/** Whether one value is at least as strict as another. */
export type AsStrict<T> = (one: T, other: T) => boolean;

/** The order of strictness of values that are listed from the strictest to the loosest. */
export function strictestFirst<T>(values: readonly T[]): AsStrict<T> {
  return (one, other) => values.indexOf(one) <= values.indexOf(other);
}

export const isSandboxAsStrict = strictestFirst(SANDBOX_MODES);
/** A person decides, or the guardian, which has two names. */
export const isReviewerAsStrict: AsStrict<string> = (one, other) =>
  one === 'user' || other !== 'user';
