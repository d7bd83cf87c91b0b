import type { Grants } from '../../policy/permissions/grants.ts';
import type { Answer } from '../../protocol/answer.ts';
import type { ServerRequests, ThreadActiveFlag } from '../../protocol/generated/types.ts';
import type { ApprovalMethod, Approvals, Question } from '../../tools/tool.ts';
import type { ActiveTurn } from '../turn/active-turn.ts';
import type { ThreadToolsDeps } from './thread-tools-deps.ts';

/** How the tools of a turn ask the thread's clients. */
export function turnApprovals(surroundings: ThreadToolsDeps, { turn, grants }: { turn: ActiveTurn; grants: Grants }): Approvals {
  return {
    grants,
    timeoutMs: timeoutMs(surroundings),
    ask: (question, signal) => ask(surroundings, question, signal),
    cancelTurn: () => turn.interrupt({ byUser: true }),
  };
}

async function ask<Method extends ApprovalMethod>(
  surroundings: ThreadToolsDeps,
  { method, params, opening }: Question<Method>,
  signal: AbortSignal,
): Promise<Answer<ServerRequests[Method]['result']>> {
  const { state, outbox } = surroundings;
  const flag: ThreadActiveFlag = method === 'item/tool/requestUserInput' ? 'waitingOnUserInput' : 'waitingOnApproval';
  const wait = async (by: 1 | -1) => {
    if (!state.wait(flag, by)) return;
    await outbox.announce([{ method: 'thread/status/changed', params: { threadId: state.id, status: state.shownStatus } }]);
  };
  await wait(1);
  try {
    await opening?.();
    return await askInTime(surroundings, { method, params }, signal);
  } finally {
    await wait(-1);
  }
}

/** Asks, and takes silence for a no where the configuration sets a time. */
async function askInTime<Method extends ApprovalMethod>(
  surroundings: ThreadToolsDeps,
  request: Pick<Question<Method>, 'method' | 'params'>,
  signal: AbortSignal,
): Promise<Answer<ServerRequests[Method]['result']>> {
  const { state, deps } = surroundings;
  const ms = timeoutMs(surroundings);
  const audience = { threadId: state.id };
  if (ms === null) return deps.publisher.ask(audience, request, signal);
  const over = new AbortController();
  const timer = deps.clock.setTimer(() => over.abort(), ms);
  try {
    const answer = await deps.publisher.ask(audience, request, AbortSignal.any([signal, over.signal]));
    return answer.type === 'aborted' && !signal.aborted ? { type: 'error', message: `nobody answered within ${ms} ms` } : answer;
  } finally {
    timer.clear();
  }
}

/** Null: people are given all the time that they take. */
function timeoutMs({ state }: ThreadToolsDeps): number | null {
  return state.configuration.approvalTimeoutMs;
}
