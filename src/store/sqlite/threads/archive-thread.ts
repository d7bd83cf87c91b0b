import { noStoredThread, storedThreadArchived, threadNotArchived } from '../../store-error.ts';
import type { ThreadPatch, ThreadRecord } from '../../thread-record.ts';
import type { StoreConnection } from './store-connection.ts';

/**
 * Archives or unarchives a thread. Throws `active_writer`, and `thread_archived` or
 * `thread_not_archived` if the thread is already in that state.
 */
export function archiveThread(
  connection: StoreConnection,
  threadId: string,
  { archived, atMs }: { archived: boolean; atMs: number },
): ThreadRecord {
  const database = connection.writable(connection.databaseOf(threadId));
  return connection.write(database, () => {
    connection.assertNotHeldElsewhere(threadId);
    const wasArchived = database.threads.archivedAtMs(threadId) != null;
    if (archived && wasArchived) throw storedThreadArchived(threadId);
    if (!archived && !wasArchived) throw threadNotArchived(threadId);
    const patch: ThreadPatch = archived
      ? { archivedAtMs: atMs }
      : { archivedAtMs: null, updatedAtMs: atMs };
    return database.threads.update(threadId, patch);
  });
}

/**
 * Archives threads of the file, all of them or none. One that was archived at this time stays as it
 * is. Throws as above.
 */
export function archiveThreads(
  connection: StoreConnection,
  threadIds: readonly string[],
  atMs: number,
): void {
  const { threads } = connection.writable(connection.disk);
  connection.write(connection.disk, () => {
    for (const threadId of threadIds) {
      connection.assertNotHeldElsewhere(threadId);
      if (threads.archive(threadId, atMs)) continue;
      const archivedAtMs = threads.archivedAtMs(threadId);
      if (archivedAtMs === undefined) throw noStoredThread(threadId);
      if (archivedAtMs !== atMs) throw storedThreadArchived(threadId);
    }
  });
}
