import { type MethodTable, perThread } from '../../requested/method.ts';
import { updateThreadRecord } from '../../thread-changes/update-thread-record.ts';
import type { ThreadDeps } from '../../thread-loading/thread-deps.ts';

export function memoryModeMethods(deps: ThreadDeps) {
  return {
    'thread/memoryMode/set': {
      order: perThread,
      async handle({ threadId, mode }) {
        await updateThreadRecord(deps, threadId, { memoryMode: mode });
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}
