import type { LoadedThread } from '../../agent/threads/loaded-thread.ts';
import type { ThreadServices } from './thread-services.ts';

/**
 * Resolves as `answer` does. If `answer` rejects, unloads the thread again, unless it is in use,
 * and rejects too.
 */
export async function orAbandon<T>(
  { threads }: ThreadServices,
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
