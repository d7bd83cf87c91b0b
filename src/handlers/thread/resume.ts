import { resolve } from 'node:path';
import type { LoadedThread } from '../../agent/threads/loaded-thread.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import {
  emptyHistory,
  loadedElsewhere,
  loadedWithHistory,
} from '../../protocol/errors/thread-errors.ts';
import type { ThreadResumeParams, ThreadResumeResponse } from '../../protocol/generated/types.ts';
import { pageLimit } from '../requested/list-page.ts';
import {
  type Caller,
  type MethodTable,
  perThread,
  type RequestContext,
} from '../requested/method.ts';
import { announceMode } from '../thread-loading/announce-mode.ts';
import { announceTokens } from '../thread-loading/announce-tokens.ts';
import { latestCursors } from '../thread-loading/latest-cursors.ts';
import { offerTools } from '../thread-loading/offer-tools.ts';
import { orAbandon } from '../thread-loading/or-abandon.ts';
import { reloadAnnouncer } from '../thread-loading/reload-announcer.ts';
import { settingsAnswer } from '../thread-loading/settings-answer.ts';
import { threadAt } from '../thread-loading/thread-at.ts';
import { threadRequest } from '../thread-loading/thread-request.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';
import { warnOfThread } from '../thread-loading/warn-of-thread.ts';

/**
 * How often the history is read while the thread's turn goes on. After that, the turn waits for the
 * read.
 */
const FREE_READS = 2;

export function resumeMethods(deps: ThreadServices) {
  const { threads, followers, clients } = deps;
  return {
    'thread/resume': {
      order: perThread,
      async handle(params, context) {
        const { caller, after } = context;
        const announceReload = reloadAnnouncer(deps, params, caller);
        const thread = await resumed(deps, params, caller);
        announceReload(thread);
        const answer = await orAbandon(deps, thread, followed(deps, { thread, params, context }));
        threads.keepLoaded(thread.id);
        after(() => {
          announceMode(deps, thread, caller);
          announceTokens(deps, thread, { caller, params });
          for (const { method, params: shown } of thread.opened('resumed'))
            clients.publish({ connection: caller.id }, method, shown);
          followers.replay(thread.id, caller.id);
          warnOfThread(deps, thread, caller);
          threads.beginDueTurn(thread.id);
        });
        return answer;
      },
    },
  } satisfies Partial<MethodTable>;
}

/** Whether a path, also through links, is that of the thread. */
function isPathOf({ record }: LoadedThread, path: string): boolean {
  return record.path !== null && realPathOrSame(resolve(path)) === realPathOrSame(record.path);
}

/**
 * The thread that the params name: history takes precedence over path, and path over id. A loaded
 * thread keeps its history.
 */
async function resumed(
  deps: ThreadServices,
  params: ThreadResumeParams,
  caller: Caller,
): Promise<LoadedThread> {
  const { threads, ids, clock } = deps;
  const { history, path, threadId } = params;
  const loaded = threads.find(threadId);
  if (loaded !== null && history) throw loadedWithHistory(threadId);
  if (loaded !== null && path && !isPathOf(loaded, path)) throw loadedElsewhere(threadId, path);
  if (history) {
    if (history.length === 0) throw emptyHistory();
    const request = {
      ...threadRequest(params, caller),
      ephemeral: false,
      threadSource: null,
      daybreakEnabled: null,
      clientTools: null,
      originator: caller.client?.clientInfo.name ?? null,
    };
    const { historyEntries } = await import('../../rollout/history-entries.ts');
    return threads.start(request, await historyEntries(history, { ids, now: clock.now() }));
  }
  const id = path && loaded === null ? (await threadAt(deps, path, caller)).id : threadId;
  return threads.resume(id, threadRequest(params, caller));
}

interface Resumed {
  thread: LoadedThread;
  params: ThreadResumeParams;
  context: RequestContext;
}

/**
 * Makes the client follow the thread, and returns the answer. The answer shows exactly what was
 * announced before: the notifications that the client gets from then on continue it.
 */
async function followed(deps: ThreadServices, resumed: Resumed): Promise<ThreadResumeResponse> {
  const { thread, context } = resumed;
  const follow = async () => {
    const answer = await readAnswer(deps, resumed);
    return () => {
      // The client also hears the agents that work for the thread, and is shown their open
      // questions.
      for (const id of [thread.id, ...deps.threads.agents.loadedBelow(thread.id)])
        deps.followers.subscribe(id, context.caller.id);
      // A long answer is made in parts: what is announced meanwhile continues it.
      context.answerInParts(context.caller.hold());
      offerTools(deps, thread, context.caller);
      return answer();
    };
  };
  for (let times = 1; times <= FREE_READS; times++) {
    const before = thread.unstored.finishedSteps;
    const made = await follow();
    if (thread.unstored.finishedSteps === before) return made();
  }
  return thread.unstored.between(async () => (await follow())());
}

/**
 * Reads what the answer has. Returns a function that makes the answer, with the state of the thread
 * at that time.
 */
async function readAnswer(
  deps: ThreadServices,
  { thread, params, context }: Resumed,
): Promise<() => ThreadResumeResponse> {
  const { answers, threads } = deps;
  const { initialTurnsPage: page, excludeTurns } = params;
  const turns =
    excludeTurns === true
      ? []
      : await answers.allStoredTurns(thread.id, context, 'excludeTurns to true');
  const firstPage = page
    ? await answers.storedTurns(
        thread.id,
        {
          limit: pageLimit(page.limit),
          direction: page.sortDirection ?? 'desc',
          view: page.itemsView ?? 'summary',
        },
        context,
      )
    : null;
  const [record, cursors] = [await threads.record(thread.id), await latestCursors(deps, thread.id)];
  return () => ({
    thread: threads.view(record, answers.views(thread.id, turns)),
    ...settingsAnswer(thread),
    collaborationMode: thread.settings.collaborationMode,
    initialTurnsPage: firstPage && { ...firstPage, data: answers.views(thread.id, firstPage.data) },
    ...cursors,
  });
}
