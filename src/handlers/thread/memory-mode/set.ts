import { type MethodTable, perThread } from '../../requested/method.ts';
import { updateThreadRecord } from '../../thread-changes/update-thread-record.ts';
import type { ThreadServices } from '../../thread-loading/thread-services.ts';

export function memoryModeMethods(deps: ThreadServices) {
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
