import type { LateItem } from '../../history-entry.ts';
import type { LogEntry } from '../../log-entry.ts';
import { settlingEntries } from '../../settling-entries.ts';
import { turnNotFound } from '../../store-error.ts';
import type { ForkPoint } from '../../thread-store.ts';
import type { History } from '../history/history.ts';
import type { HistoryPosition } from '../history/log-row.ts';
import { openTurn } from '../history/open-turn.ts';
import { loadHistory } from './load-history.ts';
import type { StoreConnection } from './store-connection.ts';

/** The start of a history: shared segments, followed by entries for the thread's own log. */
export interface HistoryCut {
  segments: { logId: number; last: number }[];
  entries: LogEntry[];
}

/**
 * Returns a thread's history up to a point. A turn that is cut through ends there. Logs are shared
 * up to the first one for which `isShared` is false; that one and all later ones are copied.
 * `isForAgent`: the history is for an agent that the thread has started. Throws `turn_not_found`.
 */
export function cutHistory(
  connection: StoreConnection,
  { id, point, isForAgent = false }: { id: string; point: ForkPoint; isForAgent?: boolean },
  isShared: (logId: number) => boolean,
): HistoryCut {
  const { database, history, tip } = loadHistory(connection, id);
  const end = endOfCut(history, id, point);
  const turn = openTurn(history, end);
  const copied = isForAgent ? 'agent' : 'forked';
  const cut = connection.isLive(id) ? copied : 'killed';
  const settling =
    turn === null
      ? []
      : settlingEntries(turn, database.partials.list(id, { inParts: false }), {
          lastWriteMs: tip.writtenAtMs,
          cut,
        });
  const slices = history.slices(history.start, end);
  const firstCopied = slices.findIndex(({ logId }) => !isShared(logId));
  const shared = firstCopied === -1 ? slices : slices.slice(0, firstCopied);
  const copies = slices
    .slice(shared.length)
    .flatMap(({ logId, last }) =>
      history.entries({ logId, ordinal: 1 }, { logId, ordinal: last + 1 }, 'everything'),
    ) as LogEntry[];
  const late = lateItemsBehind(history, end);
  return {
    segments: shared.map(({ logId, last }) => ({ logId, last })),
    entries: [...copies, ...settling, ...late],
  };
}

/** The entries behind a position that end items of turns before it. */
function lateItemsBehind(history: History, end: HistoryPosition): LogEntry[] {
  return history.entries(end, history.end, 'lateItems').filter((entry): entry is LateItem => {
    const turn = entry.kind === 'lateItem' ? history.findTurn(entry.turnId) : null;
    return turn !== null && history.compare(turn, end) < 0;
  });
}

function endOfCut(history: History, threadId: string, point: ForkPoint): HistoryPosition {
  if (point === null) return history.end;
  const turnId = 'afterTurnId' in point ? point.afterTurnId : point.beforeTurnId;
  const turn = history.findTurn(turnId);
  if (turn === null) throw turnNotFound(threadId, turnId);
  return 'afterTurnId' in point ? history.nextTurn(turn) : turn;
}
