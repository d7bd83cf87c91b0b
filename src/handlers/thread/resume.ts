import type { LoadedThread } from '../../agent/loaded-thread.ts';
import type { ThreadResumeParams, ThreadResumeResponse } from '../../protocol/generated/types.ts';
import { emptyHistory } from '../../protocol/rpc-error.ts';
import { latestCursors } from '../latest-cursors.ts';
import { pageLimit } from '../list-page.ts';
import { type CallContext, type Caller, type MethodTable, perThread } from '../method.ts';
import type { ThreadDeps } from '../thread-deps.ts';
import { announceMode } from '../thread-loading/announce-mode.ts';
import { announceTokens } from '../thread-loading/announce-tokens.ts';
import { orAbandon } from '../thread-loading/or-abandon.ts';
import { settingsAnswer } from '../thread-loading/settings-answer.ts';
import { threadAt } from '../thread-loading/thread-at.ts';
import { threadRequest } from '../thread-loading/thread-request.ts';
import { warnOfProject } from '../thread-loading/warn-of-project.ts';

export function resumeMethods(deps: ThreadDeps) {
  const { threads, followers, clients } = deps;
  return {
    'thread/resume': {
      queue: perThread,
      async handle(params, context) {
        const { caller, after } = context;
        const thread = await resumed(deps, params, caller);
        const answer = await orAbandon(deps, thread, resumeAnswer(deps, { thread, params, context }));
        // The client also hears the agents that work for the thread, and is shown their open questions.
        for (const id of [thread.id, ...threads.agents.loadedBelow(thread.id)]) followers.subscribe(id, caller.id);
        threads.keepLoaded(thread.id);
        after(() => {
          announceMode(deps, thread, caller);
          announceTokens(deps, thread, caller);
          for (const { method, params: shown } of thread.resumeAnnouncements) clients.publish({ connection: caller.id }, method, shown);
          followers.replay(thread.id, caller.id);
          warnOfProject(deps, thread, caller);
          threads.beginDueTurn(thread.id);
        });
        return answer;
      },
    },
  } satisfies Partial<MethodTable>;
}

/** The thread that the params name: history takes precedence over path, and path over id. */
async function resumed(deps: ThreadDeps, params: ThreadResumeParams, caller: Caller): Promise<LoadedThread> {
  const { threads, ids, clock } = deps;
  const { history, path, threadId } = params;
  if (history) {
    if (history.length === 0) throw emptyHistory();
    const request = {
      ...threadRequest(params, caller),
      ephemeral: false,
      threadSource: null,
      daybreakEnabled: null,
      originator: caller.client?.clientInfo.name ?? null,
    };
    const { historyEntries } = await import('../../rollout/history-entries.ts');
    return threads.start(request, historyEntries(history, { ids, now: clock.now() }));
  }
  const id = path ? (await threadAt(deps, path)).id : threadId;
  return threads.resume(id, threadRequest(params, caller));
}

async function resumeAnswer(
  deps: ThreadDeps,
  { thread, params, context }: { thread: LoadedThread; params: ThreadResumeParams; context: CallContext },
): Promise<ThreadResumeResponse> {
  const { answers } = deps;
  const { initialTurnsPage: page, excludeTurns } = params;
  const turns = excludeTurns === true ? [] : await answers.allTurns(thread.id, context, 'excludeTurns to true');
  return {
    thread: deps.threads.view(await deps.threads.record(thread.id), turns),
    ...settingsAnswer(thread),
    collaborationMode: thread.settings.collaborationMode,
    initialTurnsPage: page
      ? await answers.turns(
          thread.id,
          { limit: pageLimit(page.limit), direction: page.sortDirection ?? 'desc', view: page.itemsView ?? 'summary' },
          context,
        )
      : null,
    ...(await latestCursors(deps, thread.id)),
  };
}
