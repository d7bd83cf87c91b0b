import { createHash } from 'node:crypto';
import type { Database, Statement } from 'better-sqlite3';
import { Damage } from '../as-store-error.ts';

/** A longer string leaves the payload. */
const INLINE_CHARS_MAX = 8 * 1024;
/** What stands in for it: this and its hash. A true string that begins so leaves the payload too, so no two can be confused. */
const MARK = '\u0000blob:';
const MARK_IN_JSON = JSON.stringify(MARK).slice(1, -1);

/** Values as JSON text, with long strings kept aside, each once for the whole database. */
export class Blobs {
  readonly #put: Statement<[string, string]>;
  readonly #use: Statement<[number, string]>;
  readonly #get: Statement<[string], { content: string }>;

  constructor(db: Database) {
    this.#put = db.prepare('INSERT INTO blob (hash, content) VALUES (?, ?) ON CONFLICT DO NOTHING');
    this.#use = db.prepare('INSERT INTO blob_use (log_id, hash) VALUES (?, ?) ON CONFLICT DO NOTHING');
    this.#get = db.prepare('SELECT content FROM blob WHERE hash = ?');
  }

  /** Within a transaction. The blobs are kept for as long as the log is. */
  encode(value: unknown, logId: number): string {
    const text = JSON.stringify(value);
    if (text.length <= INLINE_CHARS_MAX && !text.includes(MARK_IN_JSON)) return text;
    return JSON.stringify(value, (_key, part: unknown) => (isBlob(part) ? MARK + this.#keep(part, logId) : part));
  }

  /** Gives back exactly what was encoded. Throws Damage where that is lost. */
  decode(text: string): unknown {
    try {
      if (!text.includes(MARK_IN_JSON)) return JSON.parse(text);
      return JSON.parse(text, (_key, part: unknown) => (isMark(part) ? this.#find(part.slice(MARK.length)) : part));
    } catch (error) {
      if (error instanceof SyntaxError) throw new Damage('a record cannot be read', { cause: error });
      throw error;
    }
  }

  #keep(value: string, logId: number): string {
    // As JSON, since SQLite's text cannot hold lone surrogates.
    const content = JSON.stringify(value);
    const hash = createHash('sha256').update(content).digest('hex');
    this.#put.run(hash, content);
    this.#use.run(logId, hash);
    return hash;
  }

  #find(hash: string): unknown {
    const row = this.#get.get(hash);
    if (row === undefined) throw new Damage('part of a record is missing');
    return JSON.parse(row.content);
  }
}

function isBlob(value: unknown): value is string {
  return typeof value === 'string' && (value.length > INLINE_CHARS_MAX || value.startsWith(MARK));
}

function isMark(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(MARK);
}
