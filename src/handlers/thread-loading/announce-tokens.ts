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
  { clients }: Pick<ThreadServices, 'clients'>,
  { usageAnnouncement: told }: LoadedThread,
  { caller, params }: Request,
): void {
  if (told === null || params.excludeTurns === true) return;
  clients.publish({ connection: caller.id }, told.method, told.params);
}
