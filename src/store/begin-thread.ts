import type { History, Place } from './history.ts';
import { loadHistory } from './load-history.ts';
import type { SegmentRow } from './log-rows.ts';
import { openTurn, settlingEntries } from './open-turn.ts';
import type { SqliteWriter } from './sqlite-writer.ts';
import type { ForkPoint, LogEntry, ThreadRecord } from './store.ts';
import type { StoreConnection } from './store-connection.ts';
import { turnNotFound } from './store-errors.ts';

/** A history to begin with: segments that are shared, and then entries of the thread's own. */
interface Beginning {
  segments: SegmentRow[];
  entries: LogEntry[];
}

/** Stores a thread and takes it. */
export function beginThread(connection: StoreConnection, record: ThreadRecord, { segments, entries }: Beginning): SqliteWriter {
  const database = connection.databaseFor(record);
  const tip = entries.length;
  const logId = connection.write(database, () => {
    const own = database.logs.create();
    database.threads.insert(record, { logId: own, tip, writtenAtMs: connection.now() });
    for (const [position, segment] of [...segments, { logId: own, last: null }].entries()) {
      database.logs.addSegment(record.id, position, segment);
    }
    database.logs.append(own, 0, entries);
    connection.takeThread(database, record.id);
    return own;
  });
  return connection.addWriter(database, { threadId: record.id, logId, tip });
}

/** What a fork begins with: it shares the source's logs up to the point, and ends a turn that was cut through. */
export function forkBeginning(
  connection: StoreConnection,
  sourceId: string,
  { point, ephemeral }: { point: ForkPoint; ephemeral: boolean },
): Beginning {
  const { database, history, tip } = loadHistory(connection, sourceId);
  const end = forkEnd(history, sourceId, point);
  const turn = openTurn(history, end);
  const settling = turn === null ? [] : settlingEntries(turn, database.partials.list(sourceId), tip.writtenAtMs);
  const slices = history.slices(history.start, end);
  // What is only in memory has to be copied for a thread that is to last.
  const lasting = slices.filter(({ logId }) => ephemeral || logId > 0);
  const fleeting = slices.filter((slice) => !lasting.includes(slice));
  const copied = fleeting.flatMap(({ logId, last }) =>
    history.entries({ logId, ordinal: 1 }, { logId, ordinal: last + 1 }, 'everything'),
  ) as LogEntry[];
  return { segments: lasting.map(({ logId, last }) => ({ logId, last })), entries: [...copied, ...settling] };
}

function forkEnd(history: History, sourceId: string, point: ForkPoint): Place {
  if (point === null) return history.end;
  const turnId = 'afterTurnId' in point ? point.afterTurnId : point.beforeTurnId;
  const turn = history.findTurn(turnId);
  if (turn === null) throw turnNotFound(sourceId, turnId);
  return 'afterTurnId' in point ? history.nextTurn(turn) : turn;
}
