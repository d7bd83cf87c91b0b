import { noRolloutFound } from '../../protocol/errors/thread-errors.ts';
import type { ThreadChange, ThreadRecord } from '../../store/thread-record.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';

/**
 * Changes the fields of a thread that any process may change, even while another process has loaded
 * it: name, gitInfo, memoryMode and daybreakEnabled. Returns the record after the change.
 */
export async function updateThreadRecord(
  { threads, store }: ThreadServices,
  threadId: string,
  change: ThreadChange,
): Promise<ThreadRecord> {
  const { id } = await threads.record(threadId, noRolloutFound);
  await store.updateThread(id, change);
  return threads.record(id);
}
