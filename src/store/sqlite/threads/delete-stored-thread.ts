import { noStoredThread } from '../../store-error.ts';
import type { StoreConnection } from './store-connection.ts';

/**
 * Deletes a thread and its list of logs, whether or not its history can still be read. The logs
 * that no other thread needs are removed later. Throws `thread_not_found` and `active_writer`.
 */
export function deleteStoredThread(connection: StoreConnection, threadId: string): void {
  const database = connection.writable(connection.databaseOf(threadId));
  connection.write(database, () => {
    connection.assertNotHeldElsewhere(threadId);
    const tip = database.threads.tip(threadId);
    if (tip === null) throw noStoredThread(threadId);
    const logIds = database.segments.remove(threadId);
    database.partials.clear(threadId);
    database.queues.clear(threadId);
    if (!database.inMemory) connection.forgetLease(threadId);
    database.threads.remove(threadId);
    database.discarded.discard(new Set([...logIds, tip.logId]));
  });
  connection.releaseExcept(threadId, []);
  connection.closeWriter(threadId);
}
