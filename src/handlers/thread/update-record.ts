import type { ThreadPatch, ThreadRecord } from '../../store/store.ts';
import type { ThreadDeps } from '../thread-deps.ts';

/** Changes a thread's record, loaded or not, by what the record says now; gives it as it is then. */
export async function updateRecord(
  { threads, store }: Pick<ThreadDeps, 'threads' | 'store'>,
  threadId: string,
  patchOf: (record: ThreadRecord) => ThreadPatch,
): Promise<ThreadRecord> {
  const record = await threads.record(threadId);
  const loaded = threads.find(record.id);
  if (loaded === null) return store.updateThread(record.id, patchOf(record));
  await loaded.update(patchOf(loaded.record));
  return loaded.record;
}
