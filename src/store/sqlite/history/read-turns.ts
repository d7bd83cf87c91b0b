import type { TurnItemsView } from '../../../protocol/generated/types.ts';
import type { HistoryEntry } from '../../history-entry.ts';
import type { Page, PageQuery, StoredTurn } from '../../thread-store.ts';
import { toTurns } from '../../to-turns.ts';
import type { History, HistoryPosition } from './history.ts';
import { hasMore, historyPage, pageRange, rowLimit } from './history-page.ts';
import { ALL, type LogRow, type Selection } from './log-rows.ts';

const SELECTION: Record<TurnItemsView, Selection> = { full: 'turns', summary: 'turnSummaries', notLoaded: 'turnMarks' };

export type TurnQuery = PageQuery & { view: TurnItemsView };

/** Reads a page of turns. Reads only its rows. `live`: whether a last turn without an end still runs. */
export function readTurns(history: History, query: TurnQuery, live: boolean): Page<StoredTurn> {
  const range = pageRange(history, 'turns', query);
  const { first, last, more } = pageEnds(history, range, query);
  if (first === undefined || last === undefined) {
    history.assertWhole(range.from, range.to);
    return historyPage('turns', [], { positions: [], more });
  }
  const isAscending = query.direction === 'asc';
  const [oldest, newest] = isAscending ? [first, last] : [last, first];
  const end = history.nextTurn(newest);
  const reachesStart = isAscending ? query.cursor == null : !more;
  history.assertWhole(reachesStart ? history.start : oldest, end);
  const turns = turnsOfRange(history, { first: oldest, end, view: query.view, live: live && end === history.end });
  return historyPage('turns', isAscending ? turns : turns.reverse(), { positions: [first, last], more });
}

interface PageEnds {
  first: HistoryPosition | undefined;
  last: HistoryPosition | undefined;
  more: boolean;
}

/** Where the page's first and last turn begin, and whether there are more turns after it. */
function pageEnds(history: History, { from, to }: { from: HistoryPosition; to: HistoryPosition }, query: TurnQuery): PageEnds {
  const { direction } = query;
  const limit = rowLimit(query);
  if (limit !== ALL) {
    const starts = history.turnStarts(from, to, { direction, limit });
    const more = hasMore(starts, query);
    return { first: starts[0], last: starts.at(more ? -2 : -1), more };
  }
  const [first] = history.turnStarts(from, to, { direction, limit: 1 });
  const [last] = history.turnStarts(from, to, { direction: direction === 'asc' ? 'desc' : 'asc', limit: 1 });
  return { first, last, more: false };
}

interface TurnRange {
  first: HistoryPosition;
  end: HistoryPosition;
  view: TurnItemsView;
  /** Whether the last turn of the range runs if it has no end. */
  live: boolean;
}

function turnsOfRange(history: History, { first, end, view, live }: TurnRange): StoredTurn[] {
  const entries = view === 'summary' ? summaryEntries(history, first, end) : history.entries(first, end, SELECTION[view]);
  const turns = toTurns(entries, view);
  const last = turns.at(-1);
  if (live && last?.completedAtMs === null) last.status = 'inProgress';
  return turns;
}

/** Of each turn, parses only the first user message and the last agent message. */
function summaryEntries(history: History, first: HistoryPosition, end: HistoryPosition): HistoryEntry[] {
  const rows = history.rows(first, end, { selection: SELECTION.summary, direction: 'asc', limit: ALL });
  const messages = rows.filter((row) => row.kind !== 'item' || row.type === 'userMessage' || row.type === 'agentMessage');
  const asked = firstOfTurn(messages, 'userMessage');
  const answered = firstOfTurn(asked.reverse(), 'agentMessage').reverse();
  return answered.map((row) => history.parse(row));
}

/** Removes all rows of a type except the first in each turn. */
function firstOfTurn(rows: LogRow[], type: string): LogRow[] {
  let isSeen = false;
  return rows.filter((row) => {
    if (row.kind === 'turnStarted') isSeen = false;
    if (row.type !== type) return true;
    const isFirst = !isSeen;
    isSeen = true;
    return isFirst;
  });
}
