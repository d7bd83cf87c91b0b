import { invalidParams, turnActive } from '../../protocol/rpc-error.ts';
import { type MethodTable, perThread } from '../method.ts';
import type { ThreadDeps } from '../thread-deps.ts';
import { revert } from './revert.ts';
import { allTurns } from './turns.ts';

/** The older form of `thread/revert`, which names the number of turns. */
export function rollbackMethods(deps: ThreadDeps) {
  const { threads, store } = deps;
  return {
    'thread/rollback': {
      queue: perThread,
      async handle({ threadId, numTurns }, context) {
        if (numTurns < 1) throw invalidParams('params.numTurns must be at least 1');
        const before = await threads.record(threadId);
        const loaded = threads.find(threadId);
        await loaded?.turnBegun();
        // It is not clear whether the client counts a turn that runs.
        if (loaded?.status.type === 'active' && loaded.turn !== null) throw turnActive(loaded.turn.id);
        const { data } = await store.listTurns(threadId, { direction: 'desc', limit: numTurns, view: 'notLoaded' });
        const first = data.at(-1);
        const record = first === undefined ? before : await revert(deps, { threadId, beforeTurnId: first.id }, context);
        return { thread: threads.view(record, await allTurns(deps, threadId)) };
      },
    },
  } satisfies Partial<MethodTable>;
}
