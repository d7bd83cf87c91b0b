import { turnActive } from '../../protocol/errors/turn-errors.ts';
import { invalidParams } from '../../protocol/rpc-error.ts';
import type { Page } from '../../store/page-query.ts';
import type { StoredTurn } from '../../store/thread-store.ts';
import { type MethodTable, perThread } from '../requested/method.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';
import { revert } from './revert.ts';

/**
 * The id of the turn that is so many turns before the end, or of the first turn; null if there is
 * none.
 */
async function turnIdBack(
  { store }: ThreadServices,
  threadId: string,
  numTurns: number,
): Promise<string | null> {
  let id: string | null = null;
  let cursor: string | null = null;
  let left = numTurns;
  do {
    const page: Page<StoredTurn> = await store.listTurns(threadId, {
      direction: 'desc',
      limit: left,
      view: 'notLoaded',
      cursor,
    });
    id = page.data.at(-1)?.id ?? id;
    left -= page.data.length;
    cursor = page.nextCursor;
  } while (cursor !== null && left > 0);
  return id;
}

/** The older form of `thread/revert`, which names the number of turns. */
export function rollbackMethods(deps: ThreadServices) {
  const { threads, answers } = deps;
  return {
    'thread/rollback': {
      order: perThread,
      async handle({ threadId, numTurns }, context) {
        if (numTurns < 1) throw invalidParams('params.numTurns must be at least 1');
        const before = await threads.record(threadId);
        const loaded = threads.find(threadId);
        await loaded?.turnBegun();
        // It is not clear whether the client counts a turn that runs.
        if (loaded?.status.type === 'active' && loaded.turn !== null)
          throw turnActive(loaded.turn.id, 'roll back');
        const first = await turnIdBack(deps, threadId, numTurns);
        const record =
          first === null ? before : await revert(deps, { threadId, beforeTurnId: first }, context);
        return { thread: threads.view(record, await answers.turnsAsFit(threadId, context)) };
      },
    },
  } satisfies Partial<MethodTable>;
}
