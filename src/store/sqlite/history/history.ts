import { jsonWeight } from '../../../base/text/json-pieces.ts';
import type { HistoryEntry } from '../../history-entry.ts';
import type { StoredItem } from '../../log-entry.ts';
import { settleItem } from '../../settle-item.ts';
import { Damage } from '../connect/as-store-error.ts';
import {
  ALL,
  type HistoryPosition,
  inOrder,
  isInSelection,
  type LogRow,
  type LogSlice,
  positionAfter,
  type RowReading,
  RUNNING_IN_JSON,
  type Selection,
  type TurnMark,
} from './log-row.ts';
import type { LogRows } from './log-rows.ts';
import { RowSlice, type Slicing } from './row-slice.ts';

/** The first rows of a selection: their size in bytes of JSON, their number, and the last one. */
interface Measured {
  bytes: number;
  count: number;
  last: HistoryPosition | null;
}

/** The parts of a history that its logs do not have. */
interface Unrecorded {
  tail?: LogRow[];
  underWay?: ReadonlyMap<string, StoredItem>;
}

export type LogsOf = (logId: number) => LogRows;

/**
 * A thread's history: slices of logs, in order. A range begins with the entry at its first position
 * and ends before its second. The `tail` follows the last slice. It is not stored, but read as if
 * it were.
 */
export class History {
  readonly start: HistoryPosition;
  readonly end: HistoryPosition;
  readonly #slices: readonly LogSlice[];
  readonly #tail: LogRow[];
  readonly #logsOf: LogsOf;
  /** The items that still run though their turns have ended, by their ids. */
  readonly #underWay: ReadonlyMap<string, StoredItem>;

  constructor(
    slices: readonly LogSlice[],
    logsOf: LogsOf,
    { tail = [], underWay = new Map() }: Unrecorded = {},
  ) {
    const [first, own] = [slices[0], slices.at(-1)];
    if (first === undefined || own === undefined) throw new Damage('a history is missing');
    this.start = { logId: first.logId, ordinal: 1 };
    this.end = { logId: own.logId, ordinal: own.last + tail.length + 1 };
    this.#slices = slices;
    this.#tail = tail;
    this.#logsOf = logsOf;
    this.#underWay = underWay;
  }

  /** This history with items that run on after their turns, each as it was last saved. */
  withUnderWay(items: readonly StoredItem[]): History {
    const underWay = new Map(items.map((item) => [item.item.id, item]));
    return new History(this.#slices, this.#logsOf, { tail: this.#tail, underWay });
  }

  /** Returns this history with more entries at its end, as if they had been appended. */
  withTail(entries: HistoryEntry[]): History {
    const { logId, ordinal } = this.end;
    const rows = entries.map((entry, index) => ({
      logId,
      ordinal: ordinal + index,
      kind: entry.kind,
      type: entry.kind === 'item' ? entry.item.type : null,
      payload: '',
      octets: 0,
      entry,
    }));
    return new History(this.#slices, this.#logsOf, { tail: rows, underWay: this.#underWay });
  }

  /** The stored slices of a range. */
  slices(from: HistoryPosition, to: HistoryPosition): LogSlice[] {
    const [begin, end] = [this.#index(from.logId), this.#index(to.logId)];
    return this.#slices
      .map(({ logId, first, last }, index) => ({
        logId,
        first: index === begin ? from.ordinal : first,
        last: index === end ? Math.min(last, to.ordinal - 1) : last,
      }))
      .filter(({ first, last }, index) => index >= begin && index <= end && first <= last);
  }

  /** The rows of a selection. */
  rows(
    from: HistoryPosition,
    to: HistoryPosition,
    reading: RowReading & { selection: Selection },
  ): LogRow[] {
    return this.slice(from, to, { ...reading, bytesMax: Number.POSITIVE_INFINITY }).rows;
  }

  /**
   * The first rows of a selection, as many as stay within `bytesMax`, but at least one. The tail is
   * never divided because of its bytes: its rows are not stored yet, so their positions may change.
   */
  slice(from: HistoryPosition, to: HistoryPosition, reading: Slicing): RowSlice {
    const { selection, direction } = reading;
    const slice = new RowSlice(reading, (row) => this.#size(row));
    const tail = inOrder(this.#tailRows(from, to).filter(isInSelection(selection)), direction);
    if (direction === 'desc') slice.takeTail(tail);
    for (const part of inOrder(this.slices(from, to), direction)) {
      if (slice.isEnded) break;
      const read = { selection, direction, limit: slice.rest };
      this.#logsOf(part.logId).read(part, read, (row) => slice.take(row));
    }
    if (direction === 'asc') slice.takeTail(tail);
    return slice;
  }

  /**
   * Measures the first rows of a selection, at most `limit`. Returns the last of them too; null:
   * there are none.
   */
  measure(
    from: HistoryPosition,
    to: HistoryPosition,
    { selection, limit }: { selection: Selection; limit: number },
  ): Measured {
    const found: Measured = { bytes: 0, count: 0, last: null };
    for (const part of this.slices(from, to)) {
      if (found.count >= limit) return found;
      const { count, octets, last, referring } = this.#logsOf(part.logId).measure(
        part,
        selection,
        limit - found.count,
      );
      found.bytes += octets;
      for (const row of referring) found.bytes += this.#size(row) - row.octets;
      found.count += count;
      if (count > 0) found.last = { logId: part.logId, ordinal: last };
    }
    if (found.count < limit)
      for (const row of this.#tailRows(from, to).filter(isInSelection(selection)))
        found.bytes += this.#size(row);
    return found;
  }

  /** The entries of a selection, oldest first, with all entries of the tail. */
  entries(from: HistoryPosition, to: HistoryPosition, selection: Selection): HistoryEntry[] {
    const stored = this.slices(from, to).flatMap((slice) =>
      this.#logsOf(slice.logId).readEntries(slice, selection),
    );
    for (const [index, entry] of stored.entries()) stored[index] = this.#lastForm(entry);
    return stored.concat(this.#tailRows(from, to).map((row) => this.parse(row)));
  }

  parse(row: LogRow): HistoryEntry {
    return this.#lastForm(this.#logsOf(row.logId).parse(row));
  }

  turnStarts(from: HistoryPosition, to: HistoryPosition, reading: RowReading): TurnMark[] {
    return this.#collect(this.slices(from, to), reading, (slice, rest) =>
      this.#logsOf(slice.logId).turnStarts(slice, rest),
    );
  }

  /** The start of the turn after the one at `position`, or the end of the history. */
  nextTurn(position: HistoryPosition): HistoryPosition {
    return (
      this.turnStarts(positionAfter(position), this.end, { direction: 'asc', limit: 1 })[0] ??
      this.end
    );
  }

  findTurn(turnId: string): HistoryPosition | null {
    for (const { logId, last } of this.#slices) {
      const ordinal = this.#logsOf(logId).findTurn(logId, turnId, last);
      if (ordinal !== null) return { logId, ordinal };
    }
    return null;
  }

  /** Returns the position of an item, or null if the range has no item with that id. */
  findItem(
    itemId: string,
    { from, to }: { from: HistoryPosition; to: HistoryPosition } = {
      from: this.start,
      to: this.end,
    },
  ): HistoryPosition | null {
    for (const slice of this.slices(from, to)) {
      const ordinal = this.#logsOf(slice.logId).findItem(slice, itemId);
      if (ordinal !== null) return { logId: slice.logId, ordinal };
    }
    const row = this.#tailRows(from, to).find(
      ({ entry }) => entry?.kind === 'item' && entry.item.id === itemId,
    );
    return row === undefined ? null : { logId: row.logId, ordinal: row.ordinal };
  }

  /** The last start or end of a turn before a position. */
  lastMark(before: HistoryPosition): TurnMark | null {
    for (const { logId, last } of this.slices(this.start, before).reverse()) {
      const mark = this.#logsOf(logId).lastMark(logId, last);
      if (mark !== null) return mark;
    }
    return null;
  }

  /** Throws Damage if an entry of the range is missing. */
  assertWhole(from: HistoryPosition, to: HistoryPosition): void {
    for (const slice of this.slices(from, to)) this.#logsOf(slice.logId).assertWhole(slice);
  }

  /** Checks the last entry of each slice only: the cost does not depend on the length. */
  assertEnds(): void {
    for (const { logId, last } of this.slices(this.start, this.end))
      this.#logsOf(logId).assertWhole({ logId, first: last, last });
  }

  /**
   * Whether a position can be in this history. Positions in its own log stay valid while the log
   * grows.
   */
  holds({ logId, ordinal }: HistoryPosition): boolean {
    const slice = this.#slices.find((candidate) => candidate.logId === logId);
    return (
      slice !== undefined && ordinal >= 1 && (logId === this.end.logId || ordinal <= slice.last)
    );
  }

  /** Negative if `a` comes before `b`. */
  compare(a: HistoryPosition, b: HistoryPosition): number {
    return this.#index(a.logId) - this.#index(b.logId) || a.ordinal - b.ordinal;
  }

  /**
   * The last known state of an item that ran on after its turn. If there is none, the item was cut
   * off.
   */
  #lastForm(entry: HistoryEntry): HistoryEntry {
    if (entry.kind !== 'item' || !('running' in entry)) return entry;
    const { kind, turnId, startedAtMs, completedAtMs } = entry;
    const itemId = entry.item.id;
    for (const slice of this.#slices) {
      const late = this.#logsOf(slice.logId).lateForm(slice, { turnId, itemId });
      if (late !== null) return { ...late, kind };
    }
    const underWay = this.#underWay.get(itemId);
    if (underWay?.turnId === turnId) return { ...underWay, kind };
    return {
      kind,
      turnId,
      item: settleItem(entry.item),
      startedAtMs,
      completedAtMs,
      partial: true,
    };
  }

  /** The size of a row's entry as `parse` returns it, approximately, in bytes of JSON. */
  #size(row: LogRow): number {
    if (row.entry !== undefined) return jsonWeight(row.entry);
    const stored = this.#logsOf(row.logId).size(row);
    return row.kind === 'item' && row.payload.includes(RUNNING_IN_JSON)
      ? stored + jsonWeight(this.parse(row))
      : stored;
  }

  #tailRows(from: HistoryPosition, to: HistoryPosition): LogRow[] {
    return this.#tail.filter((row) => this.compare(row, from) >= 0 && this.compare(row, to) < 0);
  }

  #index(logId: number): number {
    return this.#slices.findIndex((slice) => slice.logId === logId);
  }

  #collect<T>(
    slices: LogSlice[],
    { direction, limit }: RowReading,
    read: (slice: LogSlice, reading: RowReading) => T[],
  ): T[] {
    let rows: T[] = [];
    for (const slice of inOrder(slices, direction)) {
      if (limit !== ALL && rows.length >= limit) break;
      rows = rows.concat(
        read(slice, { direction, limit: limit === ALL ? ALL : limit - rows.length }),
      );
    }
    return rows;
  }
}
