import { createHash } from 'node:crypto';
import type { Database, Statement } from 'better-sqlite3';
import { jsonWeight } from '../../../base/json-pieces.ts';
import { Damage } from '../as-store-error.ts';

/** A longer string is stored apart from the payload. */
const INLINE_CHARS_MAX = 8 * 1024;
/** A value that is longer than this has such a string, or is encoded as if it had one. */
const LONG_CHARS = 64 * 1024;
/** Its placeholder is this and its hash. An ordinary string that begins so is stored apart too, so it cannot be mistaken. */
const MARK = '\u0000blob:';
/** Occurs in every encoded value that has strings apart. */
export const MARK_IN_JSON = JSON.stringify(MARK).slice(1, -1);
const MARKS = /\\u0000blob:([0-9a-f]{64})/g;

/** Encodes values as JSON, and stores each distinct long string once for the whole database. */
export class Blobs {
  readonly #put: Statement<[string, string]>;
  readonly #use: Statement<[number, string]>;
  readonly #get: Statement<[string], { content: string }>;
  readonly #measure: Statement<[string], number>;

  constructor(db: Database) {
    this.#put = db.prepare('INSERT INTO blob (hash, content) VALUES (?, ?) ON CONFLICT DO NOTHING');
    this.#use = db.prepare('INSERT INTO blob_use (log_id, hash) VALUES (?, ?) ON CONFLICT DO NOTHING');
    this.#get = db.prepare('SELECT content FROM blob WHERE hash = ?');
    this.#measure = db.prepare<[string], number>('SELECT octet_length(content) FROM blob WHERE hash = ?').pluck();
  }

  /** Encodes a value of a log, which keeps the value's blobs as long as it exists. Call it within a transaction. */
  encode(value: unknown, logId: number): string {
    if (jsonWeight(value, LONG_CHARS) <= LONG_CHARS) {
      const text = JSON.stringify(value);
      if (text.length <= INLINE_CHARS_MAX && !text.includes(MARK_IN_JSON)) return text;
    }
    return JSON.stringify(value, (_key, part: unknown) => (isBlob(part) ? MARK + this.#keep(part, logId) : part));
  }

  /** Returns the encoded value; null in place of the field `without`, which is not read. Throws Damage if part of it is lost. */
  decode(text: string, { without = null }: { without?: string | null } = {}): unknown {
    try {
      // Columns are strict, so SQLite returns another type for a damaged record only.
      if (typeof text !== 'string') throw new SyntaxError('not a text');
      if (!text.includes(MARK_IN_JSON)) return JSON.parse(text);
      return JSON.parse(text, (key, part: unknown) => {
        if (key === without) return null;
        return isMark(part) ? this.#find(part.slice(MARK.length)) : part;
      });
    } catch (error) {
      if (error instanceof SyntaxError) throw new Damage('a record cannot be read', { cause: error });
      throw error;
    }
  }

  /** The bytes of the strings that are stored apart from an encoded value. Does not read them. */
  measure(text: string): number {
    if (!text.includes(MARK_IN_JSON)) return 0;
    let bytes = 0;
    for (const [, hash = ''] of text.matchAll(MARKS)) bytes += this.#measure.get(hash) ?? 0;
    return bytes;
  }

  #keep(value: string, logId: number): string {
    // As JSON, because SQLite's text cannot have lone surrogates.
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

/** The hashes of the blobs that an encoded value names. */
export function blobHashes(text: string): string[] {
  if (!text.includes(MARK_IN_JSON)) return [];
  return [...text.matchAll(MARKS)].map(([, hash = '']) => hash);
}

function isBlob(value: unknown): value is string {
  return typeof value === 'string' && (value.length > INLINE_CHARS_MAX || value.startsWith(MARK));
}

function isMark(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(MARK);
}
