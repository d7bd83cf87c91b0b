import { lateEntries, settlingEntries } from '../../settling-entries.ts';
import { noStoredThread } from '../../store-error.ts';
import { Damage } from '../connect/as-store-error.ts';
import type { ThreadDatabase } from '../database/thread-database.ts';
import { History } from '../history/history.ts';
import { openTurn } from '../history/open-turn.ts';
import type { ThreadTip } from '../thread-table/thread-tip.ts';
import type { StoreConnection } from './store-connection.ts';

/** A thread's stored history. */
export interface LoadedHistory {
  database: ThreadDatabase;
  history: History;
  tip: ThreadTip;
}

/**
 * Loads a thread's stored history. Throws `thread_not_found`, and Damage if part of the history is
 * missing.
 */
export function loadHistory(connection: StoreConnection, threadId: string): LoadedHistory {
  const database = connection.databaseOf(threadId);
  const tip = database.threads.tip(threadId);
  if (tip === null) throw noStoredThread(threadId);
  const segments = database.segments.list(threadId);
  if (segments.at(-1)?.logId !== tip.logId) throw new Damage('the end of a history is missing');
  const slices = segments.map(({ logId, last }) => ({ logId, first: 1, last: last ?? tip.tip }));
  const history = new History(slices, connection.logsOf);
  history.assertEnds();
  return { database, history, tip };
}

/**
 * A thread's history as clients see it, with unfinished items as they were last saved. If a writer
 * is live, its turn runs. Otherwise the turn that was cut off ends as the next writer will end it.
 */
export function shownHistory(
  connection: StoreConnection,
  threadId: string,
): { history: History; live: boolean } {
  const { database, history, tip } = loadHistory(connection, threadId);
  const turn = openTurn(history, history.end);
  const partials = database.partials.list(threadId);
  if (turn === null && partials.length === 0) return { history, live: false };
  const live = connection.isLive(threadId);
  const shown = history.withUnderWay(
    live ? partials.map(({ item }) => item) : lateEntries(turn, partials),
  );
  if (turn === null) return { history: shown, live: false };
  if (!live)
    return {
      history: shown.withTail(
        settlingEntries(turn, partials, { lastWriteMs: tip.writtenAtMs, cut: 'killed' }),
      ),
      live,
    };
  const underWay = partials.filter(({ item }) => item.turnId === turn.turnId);
  return {
    history: shown.withTail(
      underWay.map(({ item }) => ({ kind: 'item', ...item, completedAtMs: null })),
    ),
    live,
  };
}
