import { randomUUID } from 'node:crypto';
import { lateEntries, settlingEntries } from '../../settling-entries.ts';
import type { ThreadDatabase } from '../database/thread-database.ts';
import { openTurn } from '../history/open-turn.ts';
import { loadHistory } from './load-history.ts';
import type { LogTail } from './sqlite-writer.ts';
import type { StoreConnection } from './store-connection.ts';

/**
 * Ends the items and the turn that a dead writer left unfinished, with each item as it was last
 * saved. Returns the new end of the thread's log, which has a new identity: no writer of an earlier
 * time goes on behind it. Call it within a transaction, once this process has the thread's lease.
 */
export function recoverThread(
  connection: StoreConnection,
  database: ThreadDatabase,
  threadId: string,
): LogTail {
  const { history, tip: before } = loadHistory(connection, threadId);
  const turn = openTurn(history, history.end);
  const partials = database.partials.list(threadId);
  const settling =
    turn === null
      ? []
      : settlingEntries(turn, partials, { lastWriteMs: before.writtenAtMs, cut: 'killed' });
  const entries = [...settling, ...lateEntries(turn, partials)];
  const { logId, writtenAtMs } = before;
  const tip = before.tip + entries.length;
  database.logs.append(logId, before.tip, entries);
  const writeId = randomUUID();
  database.threads.advance(threadId, before.tip, { tip, writtenAtMs, writeId });
  database.partials.clear(threadId);
  return { threadId, logId, tip, writeId };
}
