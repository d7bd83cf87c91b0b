import type { ThreadItem } from '../../../protocol/generated/types.ts';
import type { HistoryPage, TurnQuery } from '../../page-query.ts';
import type { StoredTurn } from '../../thread-store.ts';
import { timedItem } from '../../timed-item.ts';
import { toTurns } from '../../to-turns.ts';
import type { History, HistoryPosition } from './history.ts';
import { bytesLimit, ENTRIES_MAX, historyPage, pageRange, rowLimit } from './history-page.ts';

/** The most turns on a page, so that reading it takes a few milliseconds. */
const TURNS_MAX = { summary: 150, notLoaded: ENTRIES_MAX };

/**
 * Reads a page of turns. Reads only its rows. `live`: whether a last turn without an end still
 * runs.
 */
export function readTurns(
  history: History,
  query: TurnQuery,
  live: boolean,
): HistoryPage<StoredTurn> {
  const { from, to } = pageRange(history, 'turns', query);
  const limit = rowLimit(query, TURNS_MAX[query.view]);
  const starts = history.turnStarts(from, to, { direction: query.direction, limit });
  const isLong = starts.length === limit;
  const shown = isLong ? starts.slice(0, -1) : starts;
  const [first, last] = [shown[0], shown.at(-1)];
  if (first === undefined || last === undefined) {
    history.assertWhole(from, to);
    return { ...historyPage('turns', [], { positions: [], more: false }), bytes: 0 };
  }
  const isAscending = query.direction === 'asc';
  const [oldest, newest] = isAscending ? [first, last] : [last, first];
  const end = history.nextTurn(newest);
  const turns = turnsOfRange(history, { first: oldest, end, live: live && end === history.end });
  const page = inPlace(isAscending ? turns : turns.reverse(), { starts: shown, end, isAscending });
  const { bytes, count } =
    query.view === 'summary'
      ? summarize(history, page, bytesLimit(query))
      : { bytes: 0, count: page.length };
  const more = isLong || count < page.length;
  const kept = page.slice(0, count);
  const begins = kept.at(-1)?.start ?? first;
  const reachesStart = isAscending ? query.cursor == null : !more;
  history.assertWhole(
    reachesStart ? history.start : isAscending ? oldest : begins,
    isAscending ? (kept.at(-1)?.end ?? end) : end,
  );
  const data = kept.map(({ turn }) => turn);
  return { ...historyPage('turns', data, { positions: [first, begins], more }), bytes };
}

/** A turn of a page, and where it begins and ends. */
interface TurnPlace {
  turn: StoredTurn;
  start: HistoryPosition;
  end: HistoryPosition;
}

function inPlace(
  turns: StoredTurn[],
  {
    starts,
    end,
    isAscending,
  }: { starts: HistoryPosition[]; end: HistoryPosition; isAscending: boolean },
): TurnPlace[] {
  return turns.map((turn, index) => ({
    turn,
    start: starts[index] ?? end,
    end: starts[isAscending ? index + 1 : index - 1] ?? end,
  }));
}

/**
 * The turns of a range without their items, oldest first. `live`: whether the last one runs if it
 * has no end.
 */
function turnsOfRange(
  history: History,
  { first, end, live }: { first: HistoryPosition; end: HistoryPosition; live: boolean },
): StoredTurn[] {
  const turns = toTurns(history.entries(first, end, 'turnMarks'));
  const last = turns.at(-1);
  if (live && last?.completedAtMs === null) last.status = 'inProgress';
  return turns;
}

/**
 * Adds the messages of the summary, to as many turns as stay within `bytesMax`, but to at least
 * one. Returns their number.
 */
function summarize(
  history: History,
  page: TurnPlace[],
  bytesMax: number,
): { bytes: number; count: number } {
  let bytes = 0;
  for (const [count, { turn, start, end }] of page.entries()) {
    const asked = history.slice(start, end, {
      selection: 'userMessages',
      direction: 'asc',
      limit: 1,
      bytesMax,
    });
    const answered = history.slice(start, end, {
      selection: 'agentMessages',
      direction: 'desc',
      limit: 1,
      bytesMax,
    });
    if (count > 0 && bytes + asked.bytes + answered.bytes > bytesMax) return { bytes, count };
    bytes += asked.bytes + answered.bytes;
    const rows = [...asked.rows, ...answered.rows].sort((a, b) => history.compare(a, b));
    turn.items = rows.flatMap((row): ThreadItem[] => {
      const entry = history.parse(row);
      return entry.kind === 'item' ? [timedItem(entry)] : [];
    });
    turn.itemsView = 'summary';
  }
  return { bytes, count: page.length };
}
