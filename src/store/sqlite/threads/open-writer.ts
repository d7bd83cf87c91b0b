import { threadArchived } from '../../store-error.ts';
import { recoverThread } from '../recover-thread.ts';
import type { SqliteWriter } from '../sqlite-writer.ts';
import type { StoreConnection } from '../store-connection.ts';

/** Takes a stored thread and recovers it. Throws `thread_not_found`, `thread_archived` and `active_writer`. */
export function openWriter(connection: StoreConnection, threadId: string): SqliteWriter {
  const database = connection.writable(connection.databaseOf(threadId));
  // Before this process becomes an owner, since it clears away what dead owners left only then: a refused caller retries,
  // and may be the first to come after the other owner's death.
  connection.assertNotHeldElsewhere(threadId);
  const tail = connection.writeAsOwner(database, () => {
    connection.takeThread(database, threadId);
    if (database.threads.isArchived(threadId)) throw threadArchived(threadId);
    return recoverThread(connection, database, threadId);
  });
  return connection.addWriter(database, tail);
}
