import { spawnSource } from '../../spawn-source.ts';
import { StoreError } from '../../store-error.ts';
import type { ThreadRecord } from '../../thread-record.ts';
import type { ForkPoint } from '../../thread-store.ts';
import { beginWithHistory } from './begin-thread.ts';
import { cutHistory } from './cut-history.ts';
import type { SqliteWriter } from './sqlite-writer.ts';
import type { StoreConnection } from './store-connection.ts';

/**
 * Stores a fork, takes it and makes its writer. The source is read in the same transaction.
 * Otherwise another process could delete it in between, and with it its logs.
 */
export function forkThread(
  connection: StoreConnection,
  from: { id: string; point: ForkPoint },
  record: ThreadRecord,
): SqliteWriter {
  const source = { ...from, isForAgent: parentIsSource(record, from.id) };
  // A fork in the file cannot share logs in memory.
  if (!record.ephemeral)
    return beginWithHistory(connection, record, () =>
      cutHistory(connection, source, (logId) => logId > 0),
    );
  try {
    return beginWithHistory(connection, record, () =>
      connection.holdLogs(record.id, () => cutHistory(connection, source, () => true)),
    );
  } catch (error) {
    if (!isUnwritable(error)) throw error;
    return beginWithHistory(connection, record, () =>
      connection.disk.read(() => cutHistory(connection, source, () => false)),
    );
  }
}

/** Whether the fork is the thread of an agent that its source has started. */
function parentIsSource({ source }: ThreadRecord, sourceId: string): boolean {
  return spawnSource(source)?.parent_thread_id === sourceId;
}

/**
 * Whether the file cannot record which logs an ephemeral thread holds: then the thread gets a copy
 * of them.
 */
function isUnwritable(error: unknown): boolean {
  return (
    error instanceof StoreError && (error.code === 'store_read_only' || error.code === 'store_full')
  );
}
