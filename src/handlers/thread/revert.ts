import type { ThreadRecord } from '../../store/thread-record.ts';
import { type MethodTable, perThread, type RequestContext } from '../requested/method.ts';
import { latestCursors } from '../thread-loading/latest-cursors.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';

/**
 * Removes a turn and all turns after it. Announces that to everyone: clients that show the thread
 * must read it again.
 */
export async function revert(
  { threads, clients }: ThreadServices,
  { threadId, beforeTurnId }: { threadId: string; beforeTurnId: string },
  { after }: RequestContext,
): Promise<ThreadRecord> {
  const record = await threads.revert(threadId, beforeTurnId).catch((error: unknown) => {
    // No turn could begin meanwhile.
    threads.beginDueTurn(threadId);
    throw error;
  });
  after(() => clients.publish('everyone', 'thread/reverted', { threadId }));
  return record;
}

export function revertMethods(deps: ThreadServices) {
  const { threads } = deps;
  return {
    'thread/revert': {
      order: perThread,
      async handle(params, context) {
        const record = await revert(deps, params, context);
        return { thread: threads.view(record), ...(await latestCursors(deps, params.threadId)) };
      },
    },
  } satisfies Partial<MethodTable>;
}
