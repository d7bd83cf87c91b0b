import type { LoadedThread } from '../../agent/threads/loaded-thread.ts';
import type { ThreadDeps } from './thread-deps.ts';

/**
 * Resolves as `answer` does. If `answer` rejects, unloads the thread again, unless it is in use,
 * and rejects too.
 */
export async function orAbandon<T>(
  { threads }: ThreadDeps,
  thread: LoadedThread,
  answer: Promise<T>,
): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    await threads.unload(thread);
    throw error;
  }
}
