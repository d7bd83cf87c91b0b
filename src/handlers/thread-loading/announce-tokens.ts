import type { LoadedThread } from '../../agent/loaded-thread.ts';
import { usageWithAgents } from '../../agent/sub-agents/agents-usage.ts';
import type { Caller } from '../method.ts';
import type { ThreadDeps } from '../thread-deps.ts';

/** Tells the caller the thread's token usage, if it is known. */
export function announceTokens({ clients, threads }: ThreadDeps, { id, record: { tokenUsage } }: LoadedThread, caller: Caller): void {
  if (tokenUsage === null) return;
  clients.publish({ connection: caller.id }, 'thread/tokenUsage/updated', {
    threadId: id,
    turnId: tokenUsage.turnId,
    tokenUsage: usageWithAgents(tokenUsage.usage, threads.agents.usage.below(id)),
  });
}
