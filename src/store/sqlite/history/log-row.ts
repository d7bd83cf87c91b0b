import type { SortDirection } from '../../../protocol/generated/types.ts';
import type { HistoryEntry } from '../../history-entry.ts';

/**
 * A row of a log, whose payload is parsed only if it is needed. `entry` is set for a row that is
 * not stored.
 */
export interface LogRow {
  logId: number;
  ordinal: number;
  kind: string;
  type: string | null;
  payload: string;
  /** The length of the payload in bytes. */
  octets: number;
  entry?: HistoryEntry;
}

/** The position of a turn's start or end. */
export interface TurnMark {
  logId: number;
  ordinal: number;
  kind: 'turnStarted' | 'turnEnded';
  turnId: string;
}

/** A part of a log, from the ordinal `first` to `last`, both included. */
export interface LogSlice {
  logId: number;
  first: number;
  last: number;
}

export interface RowReading {
  direction: SortDirection;
  /** A number of rows, or ALL. */
  limit: number;
}

export const ALL = -1;

/** In the payload of an item that ran on after its turn. */
export const RUNNING_IN_JSON = '"running":true';

export const MARKS = "kind IN ('turnStarted', 'turnEnded')";

/**
 * The rows that a reader wants. Only `everything` has rows of kinds that this version does not
 * know.
 */
export const SELECTIONS = {
  everything: 'TRUE',
  turnMarks: MARKS,
  items: "kind = 'item'",
  userMessages: "kind = 'item' AND type = 'userMessage'",
  agentMessages: "kind = 'item' AND type = 'agentMessage'",
  model: "kind IN ('model', 'deferredRead', 'compacted')",
  compactions: "kind = 'compacted'",
  lateItems: "kind = 'lateItem'",
};

export type Selection = keyof typeof SELECTIONS;

/**
 * Whether a row of the tail belongs to a selection. Selections that do not name items have all of
 * its rows.
 */
export function isInSelection(selection: Selection): (row: LogRow) => boolean {
  switch (selection) {
    case 'items':
      return ({ kind }) => kind === 'item';
    case 'userMessages':
      return ({ type }) => type === 'userMessage';
    case 'agentMessages':
      return ({ type }) => type === 'agentMessage';
    case 'turnMarks':
      return ({ kind }) => kind !== 'item';
    case 'compactions':
      return ({ kind }) => kind === 'compacted';
    default:
      return () => true;
  }
}

export function inOrder<T>(list: T[], direction: SortDirection): T[] {
  return direction === 'asc' ? list : list.toReversed();
}

/**
 * A position in a history: before the entry with this ordinal in this log. A history has a log at
 * most once.
 */
export interface HistoryPosition {
  logId: number;
  ordinal: number;
}

export function positionAfter({ logId, ordinal }: HistoryPosition): HistoryPosition {
  return { logId, ordinal: ordinal + 1 };
}
