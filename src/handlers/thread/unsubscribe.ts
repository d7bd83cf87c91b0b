import { isUuid } from '../../base/ids.ts';
import { invalidThreadId } from '../../protocol/errors/thread-errors.ts';
import { type MethodTable, perThread } from '../requested/method.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';

export function unsubscribeMethods({ threads, followers }: ThreadServices) {
  return {
    'thread/unsubscribe': {
      order: perThread,
      handle({ threadId }, { caller, after }) {
        if (!isUuid(threadId)) throw invalidThreadId(threadId);
        if (threads.find(threadId) === null) return { status: 'notLoaded' };
        const followed = followers.unsubscribe(threadId, caller.id);
        after(() => threads.unloadWhenIdle(threadId));
        return { status: followed ? 'unsubscribed' : 'notSubscribed' };
      },
    },
  } satisfies Partial<MethodTable>;
}
