import type { GuardianApprovalReview } from '../../protocol/generated/types.ts';

/**
 * The end of a review. `hasFailed`: there was no assessment, and the rationale says why. `person`:
 * why a person has to decide, because the model did not see what may decide. Absent: the review
 * counts.
 */
export interface Judged extends GuardianApprovalReview {
  status: 'approved' | 'denied' | 'timedOut' | 'aborted';
  hasFailed: boolean;
  person?: string;
}
