import { lateEntries, settlingEntries } from '../settling-entries.ts';
import type { ThreadDatabase } from './database/thread-database.ts';
import { loadHistory } from './history/load-history.ts';
import { openTurn } from './history/open-turn.ts';
import type { LogTail } from './sqlite-writer.ts';
import type { StoreConnection } from './store-connection.ts';

/**
 * Ends what a writer that died left unfinished: items that still ran, and the turn that was cut off, with its items as they
 * were last saved. Returns the end of the thread's log. For a transaction of a process that has taken the thread.
 */
export function recoverThread(connection: StoreConnection, database: ThreadDatabase, threadId: string): LogTail {
  const { history, tip: before } = loadHistory(connection, threadId);
  const turn = openTurn(history, history.end);
  const partials = database.partials.list(threadId);
  const settling = turn === null ? [] : settlingEntries(turn, partials, before.writtenAtMs);
  const entries = [...settling, ...lateEntries(turn, partials)];
  const { logId, writtenAtMs } = before;
  const tip = before.tip + entries.length;
  database.logs.append(logId, before.tip, entries);
  database.threads.advance(threadId, before.tip, { tip, writtenAtMs });
  database.partials.clear(threadId);
  return { threadId, logId, tip };
}
