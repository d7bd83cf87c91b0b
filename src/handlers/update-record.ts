import { noRolloutFound } from '../protocol/rpc-error.ts';
import type { ThreadChange, ThreadRecord } from '../store/thread-store.ts';
import type { ThreadDeps } from './thread-deps.ts';

/**
 * Changes what any process may say of a thread, also while another one runs it: its name, gitInfo, memoryMode and
 * daybreakEnabled. Gives the thread as it is then.
 */
export async function updateRecord({ threads, store }: ThreadDeps, threadId: string, change: ThreadChange): Promise<ThreadRecord> {
  const { id } = await threads.record(threadId, noRolloutFound);
  await store.updateThread(id, change);
  return threads.record(id);
}
