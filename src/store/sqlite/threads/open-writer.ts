import { storedThreadArchived } from '../../store-error.ts';
import { recoverThread } from './recover-thread.ts';
import type { SqliteWriter } from './sqlite-writer.ts';
import type { StoreConnection } from './store-connection.ts';

/**
 * Takes a stored thread and recovers it. Throws `thread_not_found`, `thread_archived` and
 * `active_writer`.
 */
export function openWriter(connection: StoreConnection, threadId: string): SqliteWriter {
  const database = connection.writable(connection.databaseOf(threadId));
  // Checked before this process becomes an owner, because only then it removes what dead owners
  // left. A refused caller retries, and may be the first to do so after the other owner's death.
  connection.assertNotHeldElsewhere(threadId);
  const tail = connection.writeAsOwner(database, () => {
    connection.takeThread(database, threadId);
    if (database.threads.archivedAtMs(threadId) != null) throw storedThreadArchived(threadId);
    return recoverThread(connection, database, threadId);
  });
  return connection.addWriter(database, tail);
}
