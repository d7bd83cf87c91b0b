import type { Grants } from '../policy/grants.ts';
import type { Answer } from '../protocol/answer.ts';
import type { ServerRequests, ThreadActiveFlag } from '../protocol/generated/types.ts';
import type { ApprovalMethod, Approvals, Question } from '../tools/tool.ts';
import type { ActiveTurn } from './active-turn.ts';
import type { ToolSurroundings } from './tool-surroundings.ts';

/** How the tools of a turn ask the thread's clients. */
export function turnApprovals(surroundings: ToolSurroundings, { turn, grants }: { turn: ActiveTurn; grants: Grants }): Approvals {
  return {
    grants,
    ask: (question, signal) => ask(surroundings, question, signal),
    cancelTurn: () => turn.interrupt({ byUser: true }),
  };
}

async function ask<Method extends ApprovalMethod>(
  { state, deps, outbox }: ToolSurroundings,
  { method, params, opening }: Question<Method>,
  signal: AbortSignal,
): Promise<Answer<ServerRequests[Method]['result']>> {
  const flag: ThreadActiveFlag = method === 'item/tool/requestUserInput' ? 'waitingOnUserInput' : 'waitingOnApproval';
  const wait = async (by: 1 | -1) => {
    if (!state.wait(flag, by)) return;
    await outbox.announce([{ method: 'thread/status/changed', params: { threadId: state.id, status: state.shownStatus } }]);
  };
  await wait(1);
  try {
    await opening?.();
    return await deps.publisher.ask({ threadId: state.id }, { method, params }, signal);
  } finally {
    await wait(-1);
  }
}
