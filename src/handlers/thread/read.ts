import { type MethodTable, perThread } from '../method.ts';
import type { ThreadDeps } from '../thread-deps.ts';
import { allTurns } from './turns.ts';

export function readMethods(deps: ThreadDeps) {
  const { threads } = deps;
  return {
    'thread/read': {
      queue: perThread,
      reads: true,
      async handle({ threadId, includeTurns }) {
        const record = await threads.record(threadId);
        const turns = includeTurns === true ? await allTurns(deps, threadId) : [];
        return { thread: threads.view(record, turns), readState: null };
      },
    },
  } satisfies Partial<MethodTable>;
}
