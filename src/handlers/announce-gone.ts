import type { ThreadDeps } from './thread-deps.ts';

/** Tells that a thread is not loaded any more, and everyone why. */
export function announceGone(
  { publisher, followers }: ThreadDeps,
  method: 'thread/archived' | 'thread/deleted',
  { threadId, wasLoaded }: { threadId: string; wasLoaded: boolean },
): void {
  if (wasLoaded) publisher.publish({ threadId }, 'thread/status/changed', { threadId, status: { type: 'notLoaded' } });
  followers.unsubscribeAll(threadId);
  publisher.publish('everyone', method, { threadId });
}
