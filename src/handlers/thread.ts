import { approvalMessage } from '../agent/guardian/approval-message.ts';
import { Guardian } from '../agent/guardian/guardian.ts';
import { lastReview, namedReview } from '../agent/guardian/named-review.ts';
import { type RpcError, refused } from '../protocol/rpc-error.ts';
import { type MethodTable, perThread } from './method.ts';
import type { ThreadDeps } from './thread-deps.ts';

/** The methods of threads that have no file of their own: those about who decides on approval requests. */
export function threadMethods({ threads, store }: ThreadDeps) {
  return {
    'thread/approveGuardianDeniedAction': {
      queue: perThread,
      async handle({ threadId, event }, { after, effective }) {
        const thread = threads.require(threadId);
        const { log } = thread.part(Guardian);
        const found = await namedReview(event, { threadId, log, store });
        if (found === null) throw noReview('the event names no review of this thread');
        const { status } = found.review;
        if (status !== 'denied' && status !== 'timedOut')
          throw refused('review_not_denied', `the review is not a denial: its status is ${status}`, { reviewId: found.reviewId, status });
        const injected = thread.inject([approvalMessage(found)], 'approval');
        effective();
        const afterAnswer = await injected;
        log.approve(found.actionHash);
        after(afterAnswer);
        return {};
      },
    },

    'thread/guardianReview': {
      queue: perThread,
      reads: true,
      async handle({ threadId }) {
        await threads.record(threadId);
        const last = threads.part(threadId, Guardian)?.log.last ?? (await lastReview(threadId, store));
        if (last === null) throw noReview('the thread has no review');
        const { reviewId, review } = last.review;
        const { status, riskLevel, userAuthorization, rationale } = review;
        const outcome = status === 'approved' ? ('allow' as const) : ('deny' as const);
        const isAssessed = riskLevel !== null && userAuthorization !== null;
        const assessment = isAssessed ? { outcome, riskLevel, userAuthorization, rationale: rationale ?? 'No reason was given.' } : null;
        return { callId: last.targetItemId ?? reviewId, assessment };
      },
    },

    'thread/increment_elicitation': {
      queue: perThread,
      handle({ threadId }) {
        return threads.require(threadId).questions.beginElicitation();
      },
    },

    'thread/decrement_elicitation': {
      queue: perThread,
      handle({ threadId }) {
        const counted = threads.require(threadId).questions.endElicitation();
        if (counted === null) throw refused('no_elicitation', 'the number of elicitations is already 0');
        return counted;
      },
    },
  } satisfies Partial<MethodTable>;
}

function noReview(problem: string): RpcError {
  return refused('review_not_found', problem);
}
