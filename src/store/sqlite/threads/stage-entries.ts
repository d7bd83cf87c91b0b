import type { LogEntry } from '../../log-entry.ts';
import type { StoreConnection } from './store-connection.ts';

/** A history that is stored in parts, unseen, before the thread that will have it. */
export interface StagedHistory {
  id: string;
  /** How many entries it has. */
  tip: number;
}

/**
 * Stores a part of a staged history, after its first `tip` entries. Returns false if the history is
 * lost: then nothing of it will stay, and it must be begun again under another id. Can be repeated.
 */
export function stageEntries(
  connection: StoreConnection,
  { id, tip }: StagedHistory,
  entries: LogEntry[],
): boolean {
  return (
    inStaged(connection, id, (logId) => {
      const { logs } = connection.disk;
      const last = logs.lastOrdinal(logId);
      if (last === tip) logs.append(logId, tip, entries);
      else if (last !== tip + entries.length) return null;
      return true;
    }) === true
  );
}

/**
 * Stores a piece of a text of a staged history, and returns its hash. Null: the history is lost.
 */
export function stagePiece(connection: StoreConnection, id: string, piece: string): string | null {
  return inStaged(connection, id, (logId) => connection.disk.blobs.keep(piece, logId));
}

/** Gives up a staged history. What was stored of it is removed later. */
export function dropStaged(connection: StoreConnection, id: string): void {
  if (connection.stagedLog(id) === null) return;
  connection.writeAsOwner(connection.disk, () => connection.setStagedLog(id, null));
}

/** Stores something in the log of a staged history, which begins with an empty part. */
function inStaged<T>(
  connection: StoreConnection,
  id: string,
  work: (logId: number) => T | null,
): T | null {
  return connection.writeAsOwner(connection.writable(connection.disk), () => {
    const logId = connection.stagedLog(id);
    return logId === null ? null : work(logId);
  });
}

/** Begins a staged history under a new id. Can be repeated. */
export function beginStaging(connection: StoreConnection, id: string): void {
  connection.writeAsOwner(connection.writable(connection.disk), () => {
    if (connection.stagedLog(id) === null)
      connection.setStagedLog(id, connection.disk.logs.create());
  });
}
