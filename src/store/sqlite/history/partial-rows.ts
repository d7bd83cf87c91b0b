import type { Database, Statement } from 'better-sqlite3';
import { isObject } from '../../../base/json-value.ts';
import type { StoredItem } from '../../log-entry.ts';
import type { PartialItem } from '../../settling-entries.ts';
import { Damage } from '../connect/as-store-error.ts';
import type { Blobs } from './blobs.ts';
import { changedText, isTextChange, textChange } from './text-change.ts';

/** A shorter payload fits in a page, and is stored as a whole each time. */
const WHOLE_BYTES_MAX = 600;
const CHANGES_MAX = 10_000;
/**
 * A longer payload is not kept in memory, and so is stored as a whole each time. It is saved
 * seldom.
 */
const KEPT_CHARS_MAX = 1024 * 1024;
/** Between the ids of the changes of two partials. */
const CHANGE_IDS = 1_000_000;

interface Row {
  number: number;
  item_id: string;
  saved_at: number;
  payload: string;
}

/** A stored change of a payload. */
export interface PartialChange {
  saved_at: number;
  change: string;
}

/** A payload as this process has stored it last. */
interface Saved {
  number: number;
  /** The content of the row if that save was not rolled back. */
  savedAtMs: number;
  bytes: number;
  /** The number of its changes in the database. */
  changes: number;
  /** How many more characters its changes may have before it is stored as a whole again. */
  charsLeft: number;
  text: string;
}

/**
 * Unfinished items, in the order in which they were first saved. Of a growing item, each save
 * stores only what was added.
 */
export class PartialRows {
  readonly #add: Statement<[number, string, string, string]>;
  readonly #replace: Statement<[number, string, number]>;
  readonly #find: Statement<[string, string], { number: number; savedAtMs: number; bytes: number }>;
  readonly #addChange: Statement<[number, number, string]>;
  readonly #changes: Statement<[number, number], PartialChange>;
  readonly #countChanges: Statement<[number, number], number>;
  readonly #list: Statement<[string], Row>;
  readonly #remove: Statement<[string, string]>;
  readonly #removeTurn: Statement<[string, string, string], { item_id: string }>;
  readonly #clear: Statement<[string]>;
  readonly #blobs: Blobs;
  /** By thread and item. A save that was rolled back is noticed by what the database has. */
  readonly #saved = new Map<string, Map<string, Saved>>();

  constructor(db: Database, blobs: Blobs) {
    this.#blobs = blobs;
    this.#add = db.prepare(
      'INSERT INTO partial (saved_at, payload, thread_id, item_id) VALUES (?, ?, ?, ?)',
    );
    this.#replace = db.prepare('UPDATE partial SET saved_at = ?, payload = ? WHERE number = ?');
    this.#find = db.prepare(
      'SELECT number, saved_at AS savedAtMs, octet_length(payload) AS bytes FROM partial WHERE thread_id = ? AND item_id = ?',
    );
    this.#addChange = db.prepare(
      'INSERT INTO partial_change (id, saved_at, change) VALUES (?, ?, ?)',
    );
    this.#changes = db.prepare(
      'SELECT saved_at, change FROM partial_change WHERE id BETWEEN ? AND ? ORDER BY id',
    );
    this.#countChanges = db
      .prepare<[number, number], number>(
        'SELECT count(*) FROM partial_change WHERE id BETWEEN ? AND ?',
      )
      .pluck();
    this.#list = db.prepare(
      'SELECT number, item_id, saved_at, payload FROM partial WHERE thread_id = ? ORDER BY number',
    );
    this.#remove = db.prepare('DELETE FROM partial WHERE thread_id = ? AND item_id = ?');
    this.#removeTurn = db.prepare(
      `DELETE FROM partial WHERE thread_id = ? AND item_id NOT IN (SELECT value FROM json_each(?))
       AND CASE WHEN json_valid(payload) THEN payload ->> '$.turnId' = ? ELSE TRUE END RETURNING item_id`,
    );
    this.#clear = db.prepare('DELETE FROM partial WHERE thread_id = ?');
  }

  /** `logId`: the thread's own log, which keeps the pieces of long texts. */
  put(threadId: string, { savedAtMs, item }: PartialItem, logId: number): void {
    const text = this.#blobs.encodeUnfinished(item, logId);
    const found = this.#find.get(threadId, item.item.id);
    const saved = this.#saved.get(threadId)?.get(item.item.id);
    const isKnown =
      saved?.number === found?.number &&
      saved?.savedAtMs === found?.savedAtMs &&
      saved?.bytes === found?.bytes;
    const isKept = text.length <= KEPT_CHARS_MAX;
    if (saved !== undefined && isKnown && isKept && this.#putChange(saved, { savedAtMs, text }))
      return;
    const number =
      found?.number ??
      Number(this.#add.run(savedAtMs, text, threadId, item.item.id).lastInsertRowid);
    if (found !== undefined) this.#replace.run(savedAtMs, text, number);
    const bytes = Buffer.byteLength(text);
    if (bytes <= WHOLE_BYTES_MAX || !isKept) this.#forget(threadId, item.item.id);
    else
      this.#remember(threadId, item.item.id, {
        number,
        savedAtMs,
        bytes,
        changes: 0,
        charsLeft: text.length,
        text,
      });
  }

  /** `inParts`: with stand-ins for long texts. */
  list(threadId: string, { inParts = true } = {}): PartialItem[] {
    return this.#list.all(threadId).map((row) => {
      const changes = this.#changes.all(...changeIds(row.number));
      return {
        savedAtMs: changes.at(-1)?.saved_at ?? row.saved_at,
        item: this.#parse(withChanges(row.payload, changes), inParts),
      };
    });
  }

  remove(threadId: string, itemId: string): void {
    this.#remove.run(threadId, itemId);
    this.#forget(threadId, itemId);
  }

  /** Removes the items of a turn, except those with these ids. */
  removeTurn(threadId: string, turnId: string, keptIds: readonly string[]): void {
    for (const { item_id } of this.#removeTurn.all(threadId, JSON.stringify(keptIds), turnId))
      this.#forget(threadId, item_id);
  }

  clear(threadId: string): void {
    this.#clear.run(threadId);
    this.#saved.delete(threadId);
  }

  #parse(payload: string, inParts: boolean): StoredItem {
    const item = this.#blobs.decode(payload, { inParts });
    if (!isObject(item) || !isObject(item.item))
      throw new Damage('an unfinished item is malformed');
    return item as unknown as StoredItem;
  }

  /**
   * Stores what has changed since the last save. Returns false if the whole payload must be stored.
   */
  #putChange(saved: Saved, { savedAtMs, text }: { savedAtMs: number; text: string }): boolean {
    const [first, last] = changeIds(saved.number);
    if (saved.changes >= CHANGES_MAX || this.#countChanges.get(first, last) !== saved.changes)
      return false;
    const change = JSON.stringify(textChange(saved.text, text));
    if (change.length > saved.charsLeft) return false;
    saved.changes++;
    this.#addChange.run(first + saved.changes, savedAtMs, change);
    saved.charsLeft -= change.length;
    saved.text = text;
    return true;
  }

  #remember(threadId: string, itemId: string, saved: Saved): void {
    const ofThread = this.#saved.get(threadId) ?? new Map<string, Saved>();
    this.#saved.set(threadId, ofThread.set(itemId, saved));
  }

  #forget(threadId: string, itemId: string): void {
    const ofThread = this.#saved.get(threadId);
    ofThread?.delete(itemId);
    if (ofThread?.size === 0) this.#saved.delete(threadId);
  }
}

/** The range of ids that belongs to the changes of a partial. The first one is not used. */
export function changeIds(number: number): [number, number] {
  return [number * CHANGE_IDS, number * CHANGE_IDS + CHANGE_IDS - 1];
}

/** Returns a payload with its changes, which must be in order. Throws Damage. */
export function withChanges(payload: string, changes: readonly PartialChange[]): string {
  return changes.reduce((text, { change }) => {
    const parts = parseJson(change);
    if (!isTextChange(parts, text.length)) throw new Damage('an unfinished item is malformed');
    return changedText(text, parts);
  }, payload);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Damage('an unfinished item cannot be read', { cause: error });
  }
}
