import { threadArchived, threadNotArchived } from '../../store-error.ts';
import type { ThreadPatch, ThreadRecord } from '../../thread-store.ts';
import type { StoreConnection } from '../store-connection.ts';

/**
 * Archives or unarchives a thread. Throws `active_writer`, and `thread_archived` or `thread_not_archived` if the thread is
 * already in that state.
 */
export function archiveThread(
  connection: StoreConnection,
  threadId: string,
  { archived, atMs }: { archived: boolean; atMs: number },
): ThreadRecord {
  const database = connection.writable(connection.databaseOf(threadId));
  return connection.write(database, () => {
    connection.assertNotHeldElsewhere(threadId);
    const wasArchived = database.threads.isArchived(threadId);
    if (archived && wasArchived) throw threadArchived(threadId);
    if (!archived && !wasArchived) throw threadNotArchived(threadId);
    const patch: ThreadPatch = archived ? { archivedAtMs: atMs } : { archivedAtMs: null, updatedAtMs: atMs };
    return database.threads.update(threadId, patch);
  });
}
