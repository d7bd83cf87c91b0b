import { writerLost } from '../../store-error.ts';
import type { SqliteWriter } from '../sqlite-writer.ts';
import type { StoreConnection } from '../store-connection.ts';

/**
 * Takes a thread again for a writer of this process that was lost with an earlier connection, without recovering the thread: its
 * turn may still run. Throws `store_failed` if the thread's log does not end at `tip`, as the writer left it.
 */
export function resumeWriter(connection: StoreConnection, threadId: string, tip: number): SqliteWriter {
  const database = connection.writable(connection.databaseOf(threadId));
  const tail = connection.writeAsOwner(database, () => {
    connection.takeThread(database, threadId);
    const found = database.threads.tip(threadId);
    if (found?.tip !== tip || database.threads.isArchived(threadId)) throw writerLost(threadId);
    return { threadId, logId: found.logId, tip };
  });
  return connection.addWriter(database, tail);
}
