import type { Database, Statement } from 'better-sqlite3';
import { isObject } from '../../../base/json-value.ts';
import type { SortDirection } from '../../../protocol/generated/types.ts';
import type { HistoryEntry, LateItem } from '../../history-entry.ts';
import type { LogEntry } from '../../log-entry.ts';
import { Damage } from '../connect/as-store-error.ts';
import { type Blobs, MARK_IN_JSON } from './blobs.ts';
import {
  ALL,
  type LogRow,
  type LogSlice,
  MARKS,
  type RowReading,
  RUNNING_IN_JSON,
  SELECTIONS,
  type Selection,
  type TurnMark,
} from './log-row.ts';

/** Whether a row refers to something that is stored apart. */
const REFERS = `(instr(payload, '${MARK_IN_JSON}') > 0 OR instr(payload, '${RUNNING_IN_JSON}') > 0)`;

/** How many rows are read at a time: at first, and at most while they are small. */
const BATCH_ROWS_MIN = 16;
const BATCH_ROWS_MAX = 512;
const BATCH_BYTES_MAX = 128 * 1024;

type Measures = [count: number, octets: number, last: number, referring: string | null];
type RawRow = [ordinal: number, kind: string, type: string | null, payload: string, octets: number];

/** The logs of one database. */
export class LogRows {
  readonly #db: Database;
  readonly #blobs: Blobs;
  readonly #rowReaders = new Map<string, Statement<[number, number, number, number], RawRow>>();
  readonly #entryReaders = new Map<Selection, Statement<[number, number, number], string>>();
  readonly #measurers = new Map<Selection, Statement<number[], Measures>>();
  readonly #create: Statement<[number | null]>;
  readonly #inMemory: boolean;
  #lastInMemory = 0;
  readonly #insert: Statement<
    [number, number, string, string | null, string | null, string | null, string]
  >;
  readonly #findItem: Statement<[number, string, number, number], { ordinal: number }>;
  readonly #findLate: Statement<[number, string, number, number], string>;
  readonly #findTurn: Statement<[number, string, number], { ordinal: number }>;
  readonly #lastMark: Statement<[number, number], TurnMark>;
  readonly #startsUp: Statement<[number, number, number, number], TurnMark>;
  readonly #startsDown: Statement<[number, number, number, number], TurnMark>;
  readonly #count: Statement<[number, number, number], { count: number }>;
  readonly #cut: Statement<[number, number]>;
  readonly #last: Statement<[number], number | null>;

  /**
   * Logs in memory have negative ids, because a history in memory can also have logs of the file.
   */
  constructor(db: Database, blobs: Blobs, inMemory: boolean) {
    this.#db = db;
    this.#blobs = blobs;
    this.#inMemory = inMemory;
    this.#create = db.prepare('INSERT INTO log (id) VALUES (?)');
    this.#insert = db.prepare(
      'INSERT INTO entry (log_id, ordinal, kind, type, turn_id, item_id, payload) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
    this.#findItem = db.prepare(
      "SELECT ordinal FROM entry WHERE log_id = ? AND item_id = ? AND kind = 'item' AND ordinal BETWEEN ? AND ?",
    );
    this.#findLate = db
      .prepare<[number, string, number, number], string>(
        "SELECT payload FROM entry WHERE log_id = ? AND item_id = ? AND kind = 'lateItem' AND ordinal BETWEEN ? AND ? ORDER BY ordinal DESC",
      )
      .pluck();
    this.#findTurn = db.prepare(
      "SELECT ordinal FROM entry WHERE log_id = ? AND turn_id = ? AND kind = 'turnStarted' AND ordinal <= ?",
    );
    const mark = `SELECT log_id AS logId, ordinal, kind, turn_id AS turnId FROM entry WHERE ${MARKS} AND log_id = ?`;
    this.#lastMark = db.prepare(`${mark} AND ordinal <= ? ORDER BY ordinal DESC LIMIT 1`);
    const starts = `${mark} AND ordinal BETWEEN ? AND ? AND kind = 'turnStarted' ORDER BY ordinal`;
    this.#startsUp = db.prepare(`${starts} ASC LIMIT ?`);
    this.#startsDown = db.prepare(`${starts} DESC LIMIT ?`);
    this.#count = db.prepare(
      'SELECT count(*) AS count FROM entry WHERE log_id = ? AND ordinal BETWEEN ? AND ?',
    );
    this.#last = db
      .prepare<[number], number | null>('SELECT max(ordinal) FROM entry WHERE log_id = ?')
      .pluck();
    this.#cut = db.prepare('DELETE FROM entry WHERE log_id = ? AND ordinal > ?');
  }

  /**
   * Makes a log and returns its id. Ids are never reused, because a cursor may have the id of a
   * removed log.
   */
  create(): number {
    const id = this.#inMemory ? --this.#lastInMemory : null;
    return Number(this.#create.run(id).lastInsertRowid);
  }

  /** Appends entries after `tip`, the ordinal of the log's last entry. */
  append(logId: number, tip: number, entries: LogEntry[]): void {
    for (const [index, entry] of entries.entries()) {
      const { type, id } =
        'item' in entry && entry.kind !== 'model' ? entry.item : { type: null, id: null };
      this.#insert.run(
        logId,
        tip + 1 + index,
        entry.kind,
        type,
        entry.turnId,
        id,
        this.#blobs.encode(entry, logId),
      );
    }
  }

  /** The ordinal of a log's last entry; 0: it has none. */
  lastOrdinal(logId: number): number {
    return this.#last.get(logId) ?? 0;
  }

  /** Removes the entries after `tip`. */
  cut(logId: number, tip: number): void {
    this.#cut.run(logId, tip);
  }

  /**
   * Passes the rows of a selection to `take`, until it returns false. Reads few rows at a time, in
   * case they are large.
   */
  read(
    slice: LogSlice,
    { selection, direction, limit }: RowReading & { selection: Selection },
    take: (row: LogRow) => boolean,
  ): void {
    const { logId } = slice;
    let { first, last } = slice;
    let left = limit === ALL ? Number.POSITIVE_INFINITY : limit;
    for (let batch = BATCH_ROWS_MIN; left > 0; ) {
      const asked = Math.min(batch, left);
      const rows = this.#rowReader(selection, direction).all(logId, first, last, asked);
      let bytes = 0;
      for (const [ordinal, kind, type, payload, octets] of rows) {
        if (!take({ logId, ordinal, kind, type, payload, octets })) return;
        if (direction === 'asc') first = ordinal + 1;
        else last = ordinal - 1;
        bytes += octets;
      }
      if (rows.length < asked) return;
      left -= rows.length;
      batch = bytes > BATCH_BYTES_MAX ? BATCH_ROWS_MIN : Math.min(batch * 2, BATCH_ROWS_MAX);
    }
  }

  /**
   * Measures the first rows of a selection, at most `limit`, without reading them. `referring` has
   * the rows whose entries are larger than they are, because strings of them, or their last state,
   * are stored apart.
   */
  measure(
    slice: LogSlice,
    selection: Selection,
    limit: number,
  ): { count: number; octets: number; last: number; referring: LogRow[] } {
    const { logId, first } = slice;
    const [count, octets, last, ordinals] = this.#measurer(selection).get(
      logId,
      first,
      slice.last,
      limit,
    ) ?? [0, 0, 0, null];
    const referring: LogRow[] = [];
    for (const ordinal of ordinals?.split(',') ?? []) {
      const at = { logId, first: Number(ordinal), last: Number(ordinal) };
      this.read(at, { selection, direction: 'asc', limit: 1 }, (row) => referring.push(row) > 0);
    }
    return { count, octets, last, referring };
  }

  /** The size of a row's entry in bytes of JSON, with the strings that are stored apart. */
  size(row: LogRow): number {
    return row.octets + this.#blobs.measure(row.payload);
  }

  /** All entries of a selection, whole and oldest first: cheaper than their rows. */
  readEntries(slice: LogSlice, selection: Selection): HistoryEntry[] {
    return this.#entryReader(selection)
      .all(slice.logId, slice.first, slice.last)
      .map((payload) => this.#parse(payload, { inParts: false }));
  }

  /** The entry of a row, with stand-ins for its long texts. */
  parse(row: LogRow): HistoryEntry {
    return row.entry ?? this.#parse(row.payload);
  }

  turnStarts(slice: LogSlice, { direction, limit }: RowReading): TurnMark[] {
    const statement = direction === 'asc' ? this.#startsUp : this.#startsDown;
    return statement.all(slice.logId, slice.first, slice.last, limit);
  }

  /**
   * Returns the ordinal at which a turn begins, or null if this log has no such turn up to `last`.
   */
  findTurn(logId: number, turnId: string, last: number): number | null {
    return this.#findTurn.get(logId, turnId, last)?.ordinal ?? null;
  }

  /** Returns the ordinal of an item, or null if this slice has no item with that id. */
  findItem({ logId, first, last }: LogSlice, itemId: string): number | null {
    return this.#findItem.get(logId, itemId, first, last)?.ordinal ?? null;
  }

  /** Returns the entry that ended an item after its turn, or null if this slice has none. */
  lateForm(
    { logId, first, last }: LogSlice,
    { turnId, itemId }: { turnId: string; itemId: string },
  ): LateItem | null {
    for (const payload of this.#findLate.all(logId, itemId, first, last)) {
      const entry = this.#parse(payload);
      if (entry.kind === 'lateItem' && entry.turnId === turnId) return entry;
    }
    return null;
  }

  lastMark(logId: number, last: number): TurnMark | null {
    return this.#lastMark.get(logId, last) ?? null;
  }

  /** Throws Damage if an entry of the slice is missing. */
  assertWhole({ logId, first, last }: LogSlice): void {
    const missing = last - first + 1 - (this.#count.get(logId, first, last)?.count ?? 0);
    if (missing !== 0) throw new Damage(`${missing} records of a thread are missing`);
  }

  #parse(payload: string, { inParts } = { inParts: true }): HistoryEntry {
    const entry = this.#blobs.decode(payload, { inParts });
    if (!isEntry(entry)) throw new Damage('a record is malformed');
    return entry;
  }

  #entryReader(selection: Selection): Statement<[number, number, number], string> {
    let statement = this.#entryReaders.get(selection);
    if (statement === undefined) {
      statement = this.#db
        .prepare<[number, number, number], string>(
          `SELECT payload FROM entry WHERE log_id = ? AND ordinal BETWEEN ? AND ? AND ${SELECTIONS[selection]} ORDER BY ordinal`,
        )
        .pluck();
      this.#entryReaders.set(selection, statement);
    }
    return statement;
  }

  #measurer(selection: Selection): Statement<number[], Measures> {
    let statement = this.#measurers.get(selection);
    if (statement === undefined) {
      statement = this.#db
        .prepare<number[], Measures>(
          `SELECT count(*), coalesce(sum(octets), 0), coalesce(max(ordinal), 0), group_concat(CASE WHEN refers THEN ordinal END)
           FROM (SELECT ordinal, octet_length(payload) AS octets, ${REFERS} AS refers FROM entry
                 WHERE log_id = ? AND ordinal BETWEEN ? AND ? AND ${SELECTIONS[selection]} ORDER BY ordinal LIMIT ?)`,
        )
        .raw();
      this.#measurers.set(selection, statement);
    }
    return statement;
  }

  #rowReader(
    selection: Selection,
    direction: SortDirection,
  ): Statement<[number, number, number, number], RawRow> {
    const key = `${selection} ${direction}`;
    let statement = this.#rowReaders.get(key);
    if (statement === undefined) {
      statement = this.#db
        .prepare<[number, number, number, number], RawRow>(
          `SELECT ordinal, kind, type, payload, octet_length(payload) FROM entry
           WHERE log_id = ? AND ordinal BETWEEN ? AND ? AND ${SELECTIONS[selection]}
           ORDER BY ordinal ${direction === 'asc' ? 'ASC' : 'DESC'} LIMIT ?`,
        )
        .raw();
      this.#rowReaders.set(key, statement);
    }
    return statement;
  }
}

/** For a kind that this version does not know, only checks that it is a string. */
function isEntry(value: unknown): value is HistoryEntry {
  if (!isObject(value)) return false;
  const { kind, item, items } = value;
  if (kind === 'compacted') return Array.isArray(items) && items.every(isObject);
  return kind === 'item' || kind === 'lateItem' || kind === 'model'
    ? isObject(item)
    : typeof kind === 'string';
}
