import { StoreError } from '../../store-error.ts';
import type { ForkPoint, LogEntry, ThreadRecord } from '../../thread-store.ts';
import { cutHistory, type HistoryCut } from '../history/cut-history.ts';
import type { SqliteWriter } from '../sqlite-writer.ts';
import type { StoreConnection } from '../store-connection.ts';

/** Stores a new thread, takes it and makes its writer. */
export function beginThread(connection: StoreConnection, record: ThreadRecord, entries: LogEntry[]): SqliteWriter {
  return begin(connection, record, () => ({ segments: [], entries }));
}

/**
 * Stores a fork, takes it and makes its writer. The source is read in the same transaction, because another process may
 * delete it, after which nothing keeps its logs.
 */
export function forkThread(connection: StoreConnection, source: { id: string; point: ForkPoint }, record: ThreadRecord): SqliteWriter {
  // A fork in the file cannot share logs in memory.
  if (!record.ephemeral) return begin(connection, record, () => cutHistory(connection, source, (logId) => logId > 0));
  try {
    return begin(connection, record, () => connection.holdLogs(record.id, () => cutHistory(connection, source, () => true)));
  } catch (error) {
    if (!isUnwritable(error)) throw error;
    return begin(connection, record, () => connection.disk.read(() => cutHistory(connection, source, () => false)));
  }
}

function begin(connection: StoreConnection, record: ThreadRecord, beginning: () => HistoryCut): SqliteWriter {
  const database = connection.databaseFor(record);
  const tail = connection.writeAsOwner(database, () => {
    const { segments, entries } = beginning();
    const logId = database.logs.create();
    const tip = entries.length;
    database.threads.insert(record, { logId, tip, writtenAtMs: connection.now() });
    database.logs.setSegments(record.id, [...segments, { logId, last: null }]);
    database.logs.append(logId, 0, entries);
    connection.takeThread(database, record.id);
    return { threadId: record.id, logId, tip };
  });
  return connection.addWriter(database, tail);
}

/** Whether the file cannot record which logs an ephemeral thread holds: then the thread gets a copy of them. */
function isUnwritable(error: unknown): boolean {
  return error instanceof StoreError && (error.code === 'store_read_only' || error.code === 'store_full');
}
