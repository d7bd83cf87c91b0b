import type { Database, Statement } from 'better-sqlite3';
import { isObject } from '../../../base/json-value.ts';
import type { PartialItem } from '../../settling-entries.ts';
import type { StoredItem } from '../../thread-store.ts';
import { Damage } from '../as-store-error.ts';

/** Unfinished items, in the order in which they were first saved. */
export class PartialRows {
  readonly #put: Statement<[string, string, number, string]>;
  readonly #list: Statement<[string], { saved_at: number; payload: string }>;
  readonly #remove: Statement<[string, string]>;
  readonly #removeTurn: Statement<[string, string, string]>;
  readonly #clear: Statement<[string]>;

  constructor(db: Database) {
    this.#put = db.prepare(
      `INSERT INTO partial (thread_id, item_id, saved_at, payload) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET saved_at = excluded.saved_at, payload = excluded.payload`,
    );
    this.#list = db.prepare('SELECT saved_at, payload FROM partial WHERE thread_id = ? ORDER BY rowid');
    this.#remove = db.prepare('DELETE FROM partial WHERE thread_id = ? AND item_id = ?');
    this.#removeTurn = db.prepare(
      `DELETE FROM partial WHERE thread_id = ? AND item_id NOT IN (SELECT value FROM json_each(?))
       AND CASE WHEN json_valid(payload) THEN payload ->> '$.turnId' = ? ELSE TRUE END`,
    );
    this.#clear = db.prepare('DELETE FROM partial WHERE thread_id = ?');
  }

  put(threadId: string, { savedAtMs, item }: PartialItem): void {
    this.#put.run(threadId, item.item.id, savedAtMs, JSON.stringify(item));
  }

  list(threadId: string): PartialItem[] {
    return this.#list.all(threadId).map((row) => ({ savedAtMs: row.saved_at, item: parse(row.payload) }));
  }

  remove(threadId: string, itemId: string): void {
    this.#remove.run(threadId, itemId);
  }

  /** Removes the items of a turn, except those with these ids. */
  removeTurn(threadId: string, turnId: string, keptIds: readonly string[]): void {
    this.#removeTurn.run(threadId, JSON.stringify(keptIds), turnId);
  }

  clear(threadId: string): void {
    this.#clear.run(threadId);
  }
}

function parse(payload: string): StoredItem {
  let item: unknown;
  try {
    item = JSON.parse(payload);
  } catch (error) {
    throw new Damage('an unfinished item cannot be read', { cause: error });
  }
  if (!isObject(item) || !isObject(item.item)) throw new Damage('an unfinished item is malformed');
  return item as unknown as StoredItem;
}
