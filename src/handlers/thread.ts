import { isAbsolute, resolve } from 'node:path';
import type { LoadedThread } from '../agent/loaded-thread.ts';
import type { NewThread, ThreadRequest } from '../agent/new-thread.ts';
import { threadView } from '../agent/thread-view.ts';
import { isUuid } from '../base/ids.ts';
import type { JsonObject } from '../base/json-value.ts';
import { withWorkspaceRoots } from '../policy/permissions/complete-sandbox-policy.ts';
import type {
  ThreadForkParams,
  ThreadResumeParams,
  ThreadResumeResponse,
  ThreadStartParams,
  ThreadStartResponse,
  ThreadStatus,
} from '../protocol/generated/types.ts';
import { emptyHistory, invalidParams, invalidThreadId, noRolloutFound } from '../protocol/rpc-error.ts';
import type { ForkPoint, ThreadRecord } from '../store/thread-store.ts';
import { checkDynamicTools } from './check-dynamic-tools.ts';
import { checkRequestedSandbox } from './check-requested-sandbox.ts';
import { latestCursors } from './latest-cursors.ts';
import { type Caller, type MethodTable, pageLimit, perThread } from './method.ts';
import { allTurns, turnsPage } from './thread/turns.ts';
import type { ThreadDeps } from './thread-deps.ts';

export function threadMethods(deps: ThreadDeps) {
  const { threads, followers, publisher } = deps;
  return {
    'thread/start': {
      queue: null,
      async handle(params, { caller, after }) {
        const thread = await threads.start(newThread(params, caller));
        followers.subscribe(thread.id, caller.id);
        const answer = { thread: threadView(thread.record, thread.status), ...settingsAnswer(thread) };
        after(() => {
          publisher.publish({ threadId: thread.id }, 'thread/started', { thread: answer.thread });
          warnOfLinks(deps, thread, caller);
        });
        return answer;
      },
    },

    'thread/resume': {
      queue: perThread,
      async handle(params, context) {
        const thread = await resumed(deps, params, context.caller);
        const answer = await orAbandon(deps, thread, resumeAnswer(deps, thread, params));
        followers.subscribe(thread.id, context.caller.id);
        threads.keepLoaded(thread.id);
        context.after(() => {
          announceTokens(deps, thread, context.caller);
          for (const { method, params } of thread.resumeNews) publisher.publish({ connection: context.caller.id }, method, params);
          followers.replay(thread.id, context.caller.id);
          warnOfLinks(deps, thread, context.caller);
          threads.beginDueTurn(thread.id);
        });
        return answer;
      },
    },

    'thread/fork': {
      queue: perThread,
      async handle(params, { caller, after }) {
        const source = await forkSource(deps, params);
        const fork = await threads.fork(source, forkPoint(params), newThread(params, caller));
        const turns = params.excludeTurns === true ? [] : await orAbandon(deps, fork, allTurns(deps, fork.id));
        followers.subscribe(fork.id, caller.id);
        after(() => {
          announceTokens(deps, fork, caller);
          publisher.publish({ threadId: fork.id }, 'thread/started', { thread: threadView(fork.record, fork.status) });
          warnOfLinks(deps, fork, caller);
        });
        return { thread: threadView(fork.record, fork.status, turns), ...settingsAnswer(fork) };
      },
    },

    'thread/read': {
      queue: perThread,
      async handle({ threadId, includeTurns }) {
        const record = await threads.record(threadId);
        const turns = includeTurns === true ? await allTurns(deps, threadId) : [];
        return { thread: threadView(record, statusOf(deps, threadId), turns), readState: null };
      },
    },

    'thread/unsubscribe': {
      queue: perThread,
      handle({ threadId }, { caller, after }) {
        if (!isUuid(threadId)) throw invalidThreadId(threadId);
        if (threads.find(threadId) === null) return { status: 'notLoaded' };
        const followed = followers.unsubscribe(threadId, caller.id);
        after(() => threads.unloadWhenIdle(threadId));
        return { status: followed ? 'unsubscribed' : 'notSubscribed' };
      },
    },
  } satisfies Partial<MethodTable>;
}

/** What an answer is made of; a thread that cannot be answered with is not kept loaded for the request that failed. */
async function orAbandon<T>({ threads }: ThreadDeps, thread: LoadedThread, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    await threads.unload(thread);
    throw error;
  }
}

function threadRequest(params: ThreadStartParams | ThreadResumeParams | ThreadForkParams): ThreadRequest {
  checkRequestedSandbox(params, 'sandbox');
  const { approvalPolicy, approvalsReviewer, baseInstructions, cwd, developerInstructions, modelProvider, serviceTier } = params;
  const named = {
    approvalPolicy,
    approvalsReviewer,
    baseInstructions,
    cwd,
    developerInstructions,
    model: params.model?.trim() ? params.model : null,
    modelProvider,
    permissions: params.permissions,
    runtimeWorkspaceRoots: params.runtimeWorkspaceRoots,
    sandbox: params.sandbox,
    serviceTier,
  };
  const personality = 'personality' in params ? params.personality : null;
  return { overrides: { ...named, personality }, config: (params.config ?? null) as JsonObject | null };
}

function newThread(params: ThreadStartParams | ThreadForkParams, { client }: Caller): NewThread {
  if (params.model?.trim() === '') throw invalidParams('params.model must not be empty: leave it out for the default');
  if ('dynamicTools' in params) checkDynamicTools(params.dynamicTools ?? []);
  return {
    ...threadRequest(params),
    ephemeral: params.ephemeral ?? false,
    threadSource: params.threadSource ?? null,
    daybreakEnabled: ('daybreakEnabled' in params ? params.daybreakEnabled : null) ?? null,
    originator: client?.clientInfo.name ?? null,
  };
}

/** Tells who works with a thread which of its project's files the model does not get to read. */
function warnOfLinks({ publisher }: ThreadDeps, { id, configuration }: LoadedThread, caller: Caller): void {
  for (const path of configuration.instructions.leftOut) {
    const message = `${path} is a link that leads out of the project: it is not read as instructions.`;
    publisher.publish({ connection: caller.id }, 'warning', { threadId: id, message });
  }
}

/** The settings that a thread's next turn will run with. */
function settingsAnswer({ settings, configuration }: LoadedThread): Omit<ThreadStartResponse, 'thread'> {
  return {
    model: settings.model,
    modelProvider: settings.modelProvider,
    serviceTier: settings.serviceTier,
    disabledPluginIds: [],
    cwd: settings.cwd,
    instructionSources: configuration.instructions.sources,
    approvalPolicy: settings.approvalPolicy,
    approvalsReviewer: settings.approvalsReviewer,
    sandbox: withWorkspaceRoots(settings.sandboxPolicy, settings.workspaceRoots ?? []),
    activePermissionProfile: settings.permissionProfile ?? null,
    runtimeWorkspaceRoots: settings.workspaceRoots?.length ? [...settings.workspaceRoots] : [settings.cwd],
    reasoningEffort: settings.effort,
  };
}

/** The thread that a resume means: history wins over path, path over id. */
async function resumed(deps: ThreadDeps, params: ThreadResumeParams, caller: Caller): Promise<LoadedThread> {
  const { threads, ids, clock } = deps;
  const { history, path, threadId } = params;
  if (history) {
    if (history.length === 0) throw emptyHistory();
    const request = {
      ...threadRequest(params),
      ephemeral: false,
      threadSource: null,
      daybreakEnabled: null,
      originator: caller.client?.clientInfo.name ?? null,
    };
    const { historyEntries } = await import('../rollout/history-entries.ts');
    return threads.start(request, historyEntries(history, { ids, now: clock.now() }));
  }
  const id = path ? (await threadAt(deps, path)).id : threadId;
  return threads.resume(id, threadRequest(params));
}

async function resumeAnswer(deps: ThreadDeps, thread: LoadedThread, params: ThreadResumeParams): Promise<ThreadResumeResponse> {
  const { initialTurnsPage: page, excludeTurns } = params;
  const turns = excludeTurns === true ? [] : await allTurns(deps, thread.id);
  return {
    thread: threadView(await deps.threads.record(thread.id), thread.status, turns),
    ...settingsAnswer(thread),
    collaborationMode: thread.settings.collaborationMode,
    initialTurnsPage: page
      ? await turnsPage(deps, thread.id, {
          limit: pageLimit(page.limit),
          direction: page.sortDirection ?? 'desc',
          view: page.itemsView ?? 'summary',
        })
      : null,
    ...(await latestCursors(deps, thread.id)),
  };
}

async function forkSource(deps: ThreadDeps, { path, threadId }: ThreadForkParams): Promise<ThreadRecord> {
  return path ? threadAt(deps, path) : deps.threads.record(threadId, noRolloutFound);
}

function forkPoint({ lastTurnId, beforeTurnId }: ThreadForkParams): ForkPoint {
  if (lastTurnId && beforeTurnId) throw invalidParams('params.lastTurnId and params.beforeTurnId cannot be given together');
  if (lastTurnId) return { afterTurnId: lastTurnId };
  return beforeTurnId ? { beforeTurnId } : null;
}

/** The thread that a path means: one in the store, else the one that the rollout file there holds. */
async function threadAt(deps: ThreadDeps, path: string): Promise<ThreadRecord> {
  if (!isAbsolute(path)) throw invalidParams(`params.path: "${path}" is not an absolute path`);
  const file = resolve(path);
  return (await deps.store.findThreadByPath(file)) ?? deps.threads.import(file);
}

/** A thread's status, loaded or not. */
export function statusOf({ threads }: ThreadDeps, threadId: string): ThreadStatus {
  return threads.find(threadId)?.status ?? { type: 'notLoaded' };
}

function announceTokens({ publisher }: ThreadDeps, { id, record: { tokenUsage } }: LoadedThread, caller: Caller): void {
  if (tokenUsage === null) return;
  publisher.publish({ connection: caller.id }, 'thread/tokenUsage/updated', {
    threadId: id,
    turnId: tokenUsage.turnId,
    tokenUsage: tokenUsage.usage,
  });
}
