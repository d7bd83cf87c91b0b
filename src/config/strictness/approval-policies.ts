import type { AskForApproval } from '../../protocol/generated/types.ts';

/** The values of `approval_policy` that are strings. */
export const APPROVAL_POLICIES = [
  'untrusted',
  'on-failure',
  'on-request',
  'never',
] as const satisfies readonly AskForApproval[];
