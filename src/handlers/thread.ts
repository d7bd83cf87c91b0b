import { approvalMessage } from '../agent/guardian/approval-message.ts';
import { Guardian } from '../agent/guardian/guardian.ts';
import { ITEMS_MAX, lastReview, namedReview } from '../agent/guardian/named-review.ts';
import type { GuardianApprovalReview } from '../protocol/generated/types.ts';
import { type RpcError, refused } from '../protocol/rpc-error.ts';
import { type MethodTable, perThread, readsThread } from './requested/method.ts';
import type { ThreadServices } from './thread-loading/thread-services.ts';

/**
 * The methods of threads that have no file of their own: those about reviews of actions, and about
 * questions that clients ask.
 */
export function threadMethods({ threads, store }: ThreadServices) {
  return {
    'thread/approveGuardianDeniedAction': {
      order: perThread,
      async handle({ threadId, event }, { after, effective }) {
        const thread = threads.require(threadId);
        const guardian = thread.part(Guardian);
        const found = await namedReview(event, { threadId, log: guardian.log, store });
        if (found === null) throw noReview('the event names no review of this thread');
        const { reviewId, review } = found.review;
        const { status } = review;
        if (status !== 'denied' && status !== 'timedOut')
          throw refused(
            'review_not_denied',
            `the review is not a denial: its status is ${status}`,
            { reviewId, status },
          );
        const hash = found.review.actionHash;
        if (hash === null) throw refused('review_not_comparable', NOT_COMPARABLE, { reviewId });
        const message = approvalMessage(found);
        const injected = thread.turns.inject([message], 'approval');
        effective();
        const afterAnswer = await injected;
        guardian.approve(hash, message);
        after(afterAnswer);
        return {};
      },
    },

    'thread/guardianReview': {
      order: readsThread,
      async handle({ threadId }) {
        await threads.record(threadId);
        const last =
          threads.part(threadId, Guardian)?.log.last ?? (await lastReview(threadId, store));
        if (last === null)
          throw noReview(
            `none of the thread's last ${ITEMS_MAX} items has a review that has ended`,
          );
        return { callId: last.targetItemId, assessment: assessmentOf(last.review.review) };
      },
    },

    'thread/increment_elicitation': {
      order: perThread,
      handle({ threadId }, { caller }) {
        return threads.require(threadId).questions.beginElicitation(caller);
      },
    },

    'thread/decrement_elicitation': {
      order: perThread,
      handle({ threadId }, { caller }) {
        const counted = threads.require(threadId).questions.endElicitation(caller);
        if (counted === null)
          throw refused('no_elicitation', 'the number of elicitations is already 0');
        return counted;
      },
    },
  } satisfies Partial<MethodTable>;
}

/** Null: the review has not assessed anything. */
function assessmentOf({ status, riskLevel, userAuthorization, rationale }: GuardianApprovalReview) {
  if (riskLevel === null || userAuthorization === null) return null;
  const outcome = status === 'approved' ? ('allow' as const) : ('deny' as const);
  return { outcome, riskLevel, userAuthorization, rationale: rationale ?? 'No reason was given.' };
}

function noReview(problem: string): RpcError {
  return refused('review_not_found', problem);
}

const NOT_COMPARABLE =
  'heddle does not know all files that this command depends on, so it would not know whether the next attempt does the same. ' +
  'Run the command yourself, or set the reviewer of approvals to "user", to be asked about the next attempt.';
