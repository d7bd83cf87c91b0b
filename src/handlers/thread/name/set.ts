import { emptyThreadName, threadNameTooLong } from '../../../protocol/errors/thread-errors.ts';
import { NAME_CHARS_MAX } from '../../../store/thread-record.ts';
import { type MethodTable, perThread } from '../../requested/method.ts';
import { updateThreadRecord } from '../../thread-changes/update-thread-record.ts';
import type { ThreadServices } from '../../thread-loading/thread-services.ts';

export function nameMethods(deps: ThreadServices) {
  return {
    'thread/name/set': {
      order: perThread,
      async handle({ threadId, name }, { after }) {
        const threadName = name.trim();
        if (threadName === '') throw emptyThreadName();
        if (threadName.length > NAME_CHARS_MAX)
          throw threadNameTooLong(NAME_CHARS_MAX, threadName.length);
        const { id } = await updateThreadRecord(deps, threadId, { name: threadName });
        after(() =>
          deps.clients.publish('everyone', 'thread/name/updated', { threadId: id, threadName }),
        );
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}
