import { isDeepStrictEqual } from 'node:util';
import type { LoadedThread } from '../../agent/threads/loaded-thread.ts';
import type { ThreadResumeParams } from '../../protocol/generated/types.ts';
import type { Caller } from '../requested/method.ts';
import { settingsAnswer } from './settings-answer.ts';
import type { ThreadServices } from './thread-services.ts';

/**
 * To be called before a resume changes the settings of a loaded thread; the returned function,
 * after that. If no client followed the thread and no turn ran, it tells the caller that the thread
 * was unloaded and loaded again. Without this, clients assume that the resumed thread has its
 * earlier settings.
 */
export function reloadAnnouncer(
  { clients, followers, threads }: ThreadServices,
  params: ThreadResumeParams,
  caller: Caller,
) {
  const before = threads.find(params.threadId);
  if (before === null || before.isRunning || followers.isFollowed(before.id)) return () => {};
  const answer = settingsAnswer(before);
  return (thread: LoadedThread) => {
    if (
      thread !== before ||
      !(setsUnseen(params) || !isDeepStrictEqual(settingsAnswer(thread), answer))
    )
      return;
    for (const status of [{ type: 'notLoaded' as const }, thread.status])
      clients.publish({ connection: caller.id }, 'thread/status/changed', {
        threadId: thread.id,
        status,
      });
  };
}

/** Whether the params have settings that the response does not show. */
function setsUnseen({
  config,
  baseInstructions,
  developerInstructions,
  personality,
}: ThreadResumeParams): boolean {
  return [config, baseInstructions, developerInstructions, personality].some(
    (value) => value !== null && value !== undefined,
  );
}
