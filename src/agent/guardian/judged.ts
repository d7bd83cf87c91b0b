import type { GuardianApprovalReview } from '../../protocol/generated/types.ts';
import { type Assessment, mayPass } from './assessment.ts';

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

/** The review has ended without a result, because nobody waits for one any more. */
export const ABORTED: Judged = {
  status: 'aborted',
  riskLevel: null,
  userAuthorization: null,
  rationale: null,
  hasFailed: true,
};

/** The denial of a review that failed. `why`: a sentence. */
export function failedReview(why: string): Judged {
  return {
    status: 'denied',
    riskLevel: null,
    userAuthorization: null,
    rationale: `The automatic review failed. ${why}`,
    hasFailed: true,
  };
}

/**
 * The end of a review with this assessment. `deciding`: how many secrets that may decide what the
 * action does were hidden from the model.
 */
export function judgedBy(assessment: Assessment, deciding: number): Judged {
  const { outcome, ...review } = assessment;
  if (outcome === 'allow' && deciding > 0) {
    const person = whyPerson(deciding, 'in a file or an output that it depends on');
    return { ...ABORTED, rationale: person, person };
  }
  if (outcome === 'deny' || mayPass(assessment))
    return { ...review, status: outcome === 'allow' ? 'approved' : 'denied', hasFailed: false };
  const rating = `risk ${review.riskLevel}, authorization ${review.userAuthorization}`;
  const rationale = `The policy denies an action with this rating (${rating}), though the reviewer allowed it: ${review.rationale ?? 'no reason was given'}`;
  return { ...review, status: 'denied', rationale, hasFailed: false };
}

/** Why a person has to judge an action. `place`: where the secrets are. */
export function whyPerson(deciding: number, place: string): string {
  const secrets = deciding === 1 ? 'a secret' : `${deciding} secrets`;
  return `The automatic reviewer cannot judge this action, because ${secrets} ${place} would be hidden from its model.`;
}
