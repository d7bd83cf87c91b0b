import type { ThreadDeps } from '../thread-deps.ts';

/** Announces to everyone that a thread is archived or deleted. If it was loaded, its followers first get the status `notLoaded`. */
export function announceThreadGone(
  { clients, followers }: ThreadDeps,
  method: 'thread/archived' | 'thread/deleted',
  { threadId, wasLoaded }: { threadId: string; wasLoaded: boolean },
): void {
  if (wasLoaded) clients.publish({ threadId }, 'thread/status/changed', { threadId, status: { type: 'notLoaded' } });
  followers.unsubscribeAll(threadId);
  clients.publish('everyone', method, { threadId });
}
