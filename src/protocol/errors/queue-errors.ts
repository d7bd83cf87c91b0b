import { invalidParams, type RpcError, refused } from '../rpc-error.ts';

/** For a request that wants any entry. */
export function queueEmpty(): RpcError {
  return refused('submission_not_found', 'queue is empty');
}

export function submissionNotFound(id: string): RpcError {
  return refused('submission_not_found', `queued submission not found: ${id}`, {
    queuedSubmissionId: id,
  });
}

export function queueOrderIncomplete(): RpcError {
  return invalidParams('queue reorder must include every queued submission exactly once');
}

/** `problem`: which limit is reached. */
export function queueFull(
  problem: string,
  limits: { maxEntries: number; maxChars: number },
): RpcError {
  return refused(
    'queue_full',
    `${problem}: wait until entries have had their turns, or delete some with thread/queue/delete`,
    limits,
  );
}

/** For starting a turn with an entry of the queue. */
export function notLoadedToStart(threadId: string): RpcError {
  return refused('thread_not_found', 'resume the thread before starting a queued message', {
    threadId,
  });
}
