import { storedThreadArchived } from '../../store-error.ts';
import type { ThreadPatch, ThreadRecord } from '../../thread-record.ts';
import type { ThreadDatabase } from '../database/thread-database.ts';
import { cutHistory } from './cut-history.ts';
import type { LogTail } from './sqlite-writer.ts';
import type { StoreConnection } from './store-connection.ts';

interface Revert {
  threadId: string;
  beforeTurnId: string;
  patch: ThreadPatch;
}

/**
 * Removes a turn and everything after it from a thread. Throws `turn_not_found`, `active_writer`
 * and `thread_archived`.
 */
export function revertThread(connection: StoreConnection, revert: Revert): ThreadRecord {
  const { threadId, patch } = revert;
  const database = connection.writable(connection.databaseOf(threadId));
  const { tail, record } = connection.write(database, () => {
    connection.assertNotHeldElsewhere(threadId);
    if (database.threads.archivedAtMs(threadId) != null) throw storedThreadArchived(threadId);
    return {
      tail: cutOff(connection, database, revert),
      record: database.threads.update(threadId, patch),
    };
  });
  connection.moveWriter(tail);
  if (database.inMemory) {
    const needed = database.segments.list(threadId).map(({ logId }) => logId);
    connection.releaseExcept(threadId, needed);
  }
  return record;
}

/**
 * Cuts a thread's history before a turn. Logs are never rewritten, and forks may need them, so the
 * thread gets a shorter list of logs with a new log at its end.
 */
function cutOff(
  connection: StoreConnection,
  database: ThreadDatabase,
  { threadId, beforeTurnId }: Revert,
): Omit<LogTail, 'writeId'> {
  const { segments, entries } = cutHistory(
    connection,
    { id: threadId, point: { beforeTurnId } },
    () => true,
  );
  const logId = database.logs.create();
  const tip = entries.length;
  const before = database.segments.remove(threadId);
  database.segments.set(threadId, segments, logId);
  database.logs.append(logId, 0, entries);
  database.partials.clear(threadId);
  database.threads.move(threadId, { logId, tip, writtenAtMs: connection.now() });
  database.queues.move(threadId, logId);
  database.discarded.discard(before);
  return { threadId, logId, tip };
}
