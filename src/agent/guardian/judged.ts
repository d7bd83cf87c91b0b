import type { GuardianApprovalReview } from '../../protocol/generated/types.ts';

/** The end of a review. `hasFailed`: there was no assessment, and the rationale says why. */
export interface Judged extends GuardianApprovalReview {
  status: 'approved' | 'denied' | 'timedOut' | 'aborted';
  hasFailed: boolean;
}
