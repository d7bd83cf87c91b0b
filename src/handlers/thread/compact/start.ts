import { Compaction } from '../../../agent/compaction/compaction.ts';
import { type MethodTable, perThread } from '../../requested/method.ts';
import type { ThreadServices } from '../../thread-loading/thread-services.ts';

export function compactMethods({ threads }: ThreadServices) {
  return {
    'thread/compact/start': {
      order: perThread,
      beginsTurn: true,
      async handle({ threadId }, { after }) {
        const thread = threads.require(threadId);
        thread.part(Compaction).request();
        after(await thread.turns.beginRequested());
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}
