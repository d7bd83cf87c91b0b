import type { LogEntry } from '../../log-entry.ts';
import type { ThreadRecord } from '../../thread-record.ts';
import type { HistoryCut } from './cut-history.ts';
import type { SqliteWriter } from './sqlite-writer.ts';
import type { StagedHistory } from './stage-entries.ts';
import type { StoreConnection } from './store-connection.ts';

/** Stores a new thread, takes it and makes its writer. */
export function beginThread(
  connection: StoreConnection,
  record: ThreadRecord,
  entries: LogEntry[],
): SqliteWriter {
  return beginWithHistory(connection, record, () => ({ segments: [], entries }));
}

/**
 * Stores a new thread that has a staged history, takes it and makes its writer. Null: the history
 * is lost.
 */
export function beginFromStaged(
  connection: StoreConnection,
  record: ThreadRecord,
  staged: StagedHistory,
): SqliteWriter | null {
  const { disk } = connection;
  const tail = connection.writeAsOwner(connection.writable(disk), () => {
    const logId = connection.stagedLog(staged.id);
    if (logId === null || disk.logs.lastOrdinal(logId) !== staged.tip) return null;
    disk.threads.insert(record, { logId, tip: staged.tip, writtenAtMs: connection.now() });
    disk.segments.set(record.id, [], logId);
    connection.setStagedLog(staged.id, null);
    connection.takeThread(disk, record.id);
    return { threadId: record.id, logId, tip: staged.tip, writeId: null };
  });
  return tail === null ? null : connection.addWriter(disk, tail);
}

/** Stores a thread that begins with this history, takes it and makes its writer. */
export function beginWithHistory(
  connection: StoreConnection,
  record: ThreadRecord,
  beginning: () => HistoryCut,
): SqliteWriter {
  const database = connection.databaseFor(record);
  const tail = connection.writeAsOwner(database, () => {
    const { segments, entries } = beginning();
    const logId = database.logs.create();
    const tip = entries.length;
    database.threads.insert(record, { logId, tip, writtenAtMs: connection.now() });
    database.segments.set(record.id, segments, logId);
    database.logs.append(logId, 0, entries);
    connection.takeThread(database, record.id);
    return { threadId: record.id, logId, tip, writeId: null };
  });
  return connection.addWriter(database, tail);
}
