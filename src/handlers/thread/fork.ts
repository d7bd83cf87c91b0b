import type { LoadedThread } from '../../agent/threads/loaded-thread.ts';
import { noRolloutFound } from '../../protocol/errors/thread-errors.ts';
import type { ThreadForkParams, Turn } from '../../protocol/generated/types.ts';
import { invalidParams } from '../../protocol/rpc-error.ts';
import type { ThreadRecord } from '../../store/thread-record.ts';
import type { ForkPoint } from '../../store/thread-store.ts';
import {
  type Caller,
  type MethodTable,
  perThread,
  type RequestContext,
} from '../requested/method.ts';
import { announceMode } from '../thread-loading/announce-mode.ts';
import { announceTokens } from '../thread-loading/announce-tokens.ts';
import { offerTools } from '../thread-loading/offer-tools.ts';
import { settingsAnswer } from '../thread-loading/settings-answer.ts';
import { threadAt } from '../thread-loading/thread-at.ts';
import { newThreadRequest } from '../thread-loading/thread-request.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';
import { warnOfThread } from '../thread-loading/warn-of-thread.ts';

export function forkMethods(deps: ThreadServices) {
  const { threads, followers, clients } = deps;
  return {
    'thread/fork': {
      order: perThread,
      async handle(params, context) {
        const { caller, after } = context;
        const source = await forkSource(deps, params, caller);
        const fork = await threads.fork(
          source,
          forkPoint(params),
          newThreadRequest(params, caller),
        );
        const turns = params.excludeTurns === true ? [] : await turnsOrUndo(deps, fork, context);
        followers.subscribe(fork.id, caller.id);
        offerTools(deps, fork, caller);
        after(() => {
          announceMode(deps, fork, caller);
          announceTokens(deps, fork, { caller, params });
          clients.publish({ threadId: fork.id }, 'thread/started', {
            thread: threads.view(fork.record),
          });
          warnOfThread(deps, fork, caller);
          fork.opened('started');
        });
        return { thread: threads.view(fork.record, turns), ...settingsAnswer(fork) };
      },
    },
  } satisfies Partial<MethodTable>;
}

/**
 * All turns of the fork. If the answer cannot have them, the fork is deleted: the client would not
 * know of it.
 */
async function turnsOrUndo(
  { threads, store, answers }: ThreadServices,
  { id }: LoadedThread,
  context: RequestContext,
): Promise<Turn[]> {
  try {
    return await answers.allTurns(id, context, 'excludeTurns to true');
  } catch (error) {
    await threads.retire(id, () => store.deleteThread(id));
    throw error;
  }
}

async function forkSource(
  deps: ThreadServices,
  { path, threadId }: ThreadForkParams,
  caller: Caller,
): Promise<ThreadRecord> {
  return path ? threadAt(deps, path, caller) : deps.threads.record(threadId, noRolloutFound);
}

function forkPoint({ lastTurnId, beforeTurnId }: ThreadForkParams): ForkPoint {
  if (lastTurnId && beforeTurnId)
    throw invalidParams('params.lastTurnId and params.beforeTurnId cannot be given together');
  if (lastTurnId) return { afterTurnId: lastTurnId };
  return beforeTurnId ? { beforeTurnId } : null;
}
