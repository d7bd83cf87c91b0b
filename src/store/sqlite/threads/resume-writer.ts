import { writerLost } from '../../store-error.ts';
import type { SqliteWriter } from './sqlite-writer.ts';
import type { StoreConnection } from './store-connection.ts';

/**
 * Takes a thread again for a writer of this process that was lost with an earlier connection,
 * without recovering the thread: its turn may still run. Throws `store_failed` if the last write to
 * the thread is none of these, because another writer has had the thread since, and for an
 * ephemeral thread, which was lost with the connection.
 */
export function resumeWriter(
  connection: StoreConnection,
  threadId: string,
  lastWrites: readonly (string | null)[],
): SqliteWriter {
  const found = connection.databases().find((database) => database.threads.tip(threadId) !== null);
  if (found === undefined) throw writerLost(threadId);
  const database = connection.writable(found);
  const tail = connection.writeAsOwner(database, () => {
    connection.takeThread(database, threadId);
    const tip = database.threads.tip(threadId);
    if (
      tip === null ||
      !lastWrites.includes(tip.writeId) ||
      database.threads.archivedAtMs(threadId) != null
    )
      throw writerLost(threadId);
    return { threadId, ...tip };
  });
  return connection.addWriter(database, tail);
}
