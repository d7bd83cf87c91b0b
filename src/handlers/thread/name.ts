import { emptyThreadName } from '../../protocol/errors.ts';
import { type MethodTable, perThread } from '../method.ts';
import type { ThreadDeps } from '../thread-deps.ts';
import { updateRecord } from './update-record.ts';

export function nameMethods(deps: ThreadDeps) {
  return {
    'thread/name/set': {
      queue: perThread,
      async handle({ threadId, name }, { after }) {
        const threadName = name.trim();
        if (threadName === '') throw emptyThreadName();
        const { id } = await updateRecord(deps, threadId, { name: threadName });
        after(() => deps.publisher.publish('everyone', 'thread/name/updated', { threadId: id, threadName }));
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}
