import { usageWithAgents } from '../../agent/lineage/agents-usage.ts';
import type { LoadedThread } from '../../agent/threads/loaded-thread.ts';
import type { Caller } from '../requested/method.ts';
import type { ThreadServices } from './thread-services.ts';

interface Request {
  caller: Caller;
  params: { excludeTurns?: boolean | null };
}

/**
 * Tells the caller the thread's token usage, if it is known. A caller that asks for no turns gets
 * no usage of a turn either.
 */
export function announceTokens(
  { clients, threads }: ThreadServices,
  { id, record: { tokenUsage } }: LoadedThread,
  { caller, params }: Request,
): void {
  if (tokenUsage === null || params.excludeTurns === true) return;
  clients.publish({ connection: caller.id }, 'thread/tokenUsage/updated', {
    threadId: id,
    turnId: tokenUsage.turnId,
    tokenUsage: usageWithAgents(tokenUsage.usage, threads.agents.usage.below(id)),
  });
}
