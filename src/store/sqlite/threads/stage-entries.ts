import type { LogEntry } from '../../thread-store.ts';
import type { StoreConnection } from '../store-connection.ts';

/** A history that is stored in parts, unseen, before the thread that will have it. */
export interface Draft {
  id: string;
  /** How many entries it has. */
  tip: number;
}

/**
 * Stores a part of a draft, after its first `tip` entries. Returns false if the draft is lost: then nothing of it will stay, and it must be
 * begun again under another id. Can be repeated.
 */
export function stageEntries(connection: StoreConnection, { id, tip }: Draft, entries: LogEntry[]): boolean {
  return (
    inDraft(connection, id, (logId) => {
      const { logs } = connection.disk;
      const last = logs.lastOrdinal(logId);
      if (last === tip) logs.append(logId, tip, entries);
      else if (last !== tip + entries.length) return null;
      return true;
    }) === true
  );
}

/** Stores a piece of a text of a draft, and returns its hash. Null: the draft is lost. */
export function stagePiece(connection: StoreConnection, id: string, piece: string): string | null {
  return inDraft(connection, id, (logId) => connection.disk.blobs.keep(piece, logId));
}

/** Gives up a draft. What was stored of it is removed later. */
export function dropDraft(connection: StoreConnection, id: string): void {
  if (connection.draftLog(id) === null) return;
  connection.writeAsOwner(connection.disk, () => connection.setDraft(id, null));
}

/** Stores something in the log of a draft, which begins with an empty part. */
function inDraft<T>(connection: StoreConnection, id: string, work: (logId: number) => T | null): T | null {
  return connection.writeAsOwner(connection.writable(connection.disk), () => {
    const logId = connection.draftLog(id);
    return logId === null ? null : work(logId);
  });
}

/** Begins a draft under a new id. Can be repeated. */
export function beginDraft(connection: StoreConnection, id: string): void {
  connection.writeAsOwner(connection.writable(connection.disk), () => {
    if (connection.draftLog(id) === null) connection.setDraft(id, connection.disk.logs.create());
  });
}
