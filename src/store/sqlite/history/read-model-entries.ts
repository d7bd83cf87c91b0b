import type { ModelEntry, ModelSlice } from '../../log-entry.ts';
import type { History } from './history.ts';
import { historyCursor, pageRange } from './history-page.ts';
import { positionAfter } from './log-row.ts';

/** How many entries one call reads, so that it takes a few milliseconds. */
const ENTRIES_MAX = 1_000;

/**
 * Reads a part of the entries for the model that are stored, oldest first. Entries before the last
 * compaction are not needed.
 */
export function readModelEntries(
  history: History,
  { cursor, bytesMax }: { cursor: string | null; bytesMax: number },
): ModelSlice {
  const range = pageRange(history, 'model', { cursor, direction: 'asc' });
  const from = cursor === null ? (lastCompaction(history) ?? range.from) : range.from;
  const { to } = range;
  const { rows, isCut } = history.slice(from, to, {
    selection: 'model',
    direction: 'asc',
    limit: ENTRIES_MAX,
    bytesMax,
  });
  const last = rows.at(-1);
  const more = isCut || rows.length === ENTRIES_MAX;
  history.assertWhole(from, more && last !== undefined ? positionAfter(last) : to);
  const entries = rows
    .map((row) => history.parse(row))
    .filter((entry): entry is ModelEntry => isForModel(entry.kind));
  return { entries, cursor: last === undefined ? cursor : historyCursor('model', last), more };
}

function lastCompaction(history: History) {
  return history.rows(history.start, history.end, {
    selection: 'compactions',
    direction: 'desc',
    limit: 1,
  })[0];
}

function isForModel(kind: string): boolean {
  return kind === 'model' || kind === 'deferredRead' || kind === 'compacted';
}
