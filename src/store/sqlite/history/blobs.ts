import { createHash } from 'node:crypto';
import type { Database, Statement } from 'better-sqlite3';
import { jsonWeight } from '../../../base/text/json-pieces.ts';
import { piecesLost } from '../../store-error.ts';
import { Damage } from '../connect/as-store-error.ts';
import { type LongTexts, MARK, parseReference, referenceText, splitHashes } from './long-texts.ts';

/** A longer string is stored apart from the payload. */
const INLINE_CHARS_MAX = 8 * 1024;
/** A value that is longer than this has such a string, or is encoded as if it had one. */
const LONG_CHARS = 64 * 1024;
/**
 * Occurs in every encoded value that has strings apart. An ordinary string that begins so is stored
 * apart too, so it cannot be mistaken.
 */
export const MARK_IN_JSON = JSON.stringify(MARK).slice(1, -1);
const MARKS = /\\u0000blob:((?:[0-9a-f]{64})+)/g;

/** Encodes values as JSON, and stores each distinct long string once for the whole database. */
export class Blobs {
  readonly #put: Statement<[string, string]>;
  readonly #use: Statement<[number, string]>;
  readonly #get: Statement<[string], { content: string }>;
  readonly #measure: Statement<[string], number>;
  readonly #longTexts: LongTexts | null;

  /**
   * With `longTexts`, values have stand-ins for long texts, and are encoded with those that they
   * have.
   */
  constructor(db: Database, longTexts?: LongTexts) {
    this.#longTexts = longTexts ?? null;
    this.#put = db.prepare('INSERT INTO blob (hash, content) VALUES (?, ?) ON CONFLICT DO NOTHING');
    this.#use = db.prepare(
      'INSERT INTO blob_use (log_id, hash) VALUES (?, ?) ON CONFLICT DO NOTHING',
    );
    this.#get = db.prepare('SELECT content FROM blob WHERE hash = ?');
    this.#measure = db
      .prepare<[string], number>('SELECT octet_length(content) FROM blob WHERE hash = ?')
      .pluck();
  }

  /**
   * Encodes a value of a log, which keeps the value's blobs as long as it exists. Call it within a
   * transaction.
   */
  encode(value: unknown, logId: number): string {
    if (jsonWeight(value, LONG_CHARS) <= LONG_CHARS) {
      const text = JSON.stringify(value);
      if (text.length <= INLINE_CHARS_MAX && !text.includes(MARK_IN_JSON)) return text;
    }
    return JSON.stringify(value, (_key, part: unknown) =>
      isBlob(part) ? MARK + this.#reference(part, logId) : part,
    );
  }

  /**
   * As `encode`, for an unfinished item, which is soon replaced: only texts that are in pieces
   * already, or like a mark, are stored apart.
   */
  encodeUnfinished(value: unknown, logId: number): string {
    const text = JSON.stringify(value);
    if (!text.includes(MARK_IN_JSON)) return text;
    return JSON.stringify(value, (_key, part: unknown) =>
      isMark(part) ? MARK + this.#reference(part, logId) : part,
    );
  }

  /** Stores a piece of a text for a log, and returns its hash. Call it within a transaction. */
  keep(piece: string, logId: number): string {
    // As JSON, because SQLite's text cannot have lone surrogates.
    const content = JSON.stringify(piece);
    const hash = createHash('sha256').update(content).digest('hex');
    this.#put.run(hash, content);
    this.#use.run(logId, hash);
    return hash;
  }

  /** Returns a piece; null if it is not stored. */
  piece(hash: string): string | null {
    const row = this.#get.get(hash);
    return row === undefined ? null : (JSON.parse(row.content) as string);
  }

  /**
   * Returns the encoded value; null in place of the field `without`, which is not read. `inParts`:
   * with stand-ins for texts that are stored in several pieces. Throws Damage if part of it is
   * lost.
   */
  decode(
    text: string,
    { without = null, inParts = false }: { without?: string | null; inParts?: boolean } = {},
  ): unknown {
    try {
      // Columns are strict, so SQLite returns another type for a damaged record only.
      if (typeof text !== 'string') throw new SyntaxError('not a text');
      if (!text.includes(MARK_IN_JSON)) return JSON.parse(text);
      return JSON.parse(text, (key, part: unknown) => {
        if (key === without) return null;
        return isMark(part) ? this.#find(part.slice(MARK.length), inParts) : part;
      });
    } catch (error) {
      if (error instanceof SyntaxError)
        throw new Damage('a record cannot be read', { cause: error });
      throw error;
    }
  }

  /** The bytes of the strings that are stored apart from an encoded value. Does not read them. */
  measure(text: string): number {
    if (!text.includes(MARK_IN_JSON)) return 0;
    let bytes = 0;
    for (const hash of blobHashes(text)) bytes += this.#measure.get(hash) ?? 0;
    return bytes;
  }

  /**
   * Stores a text, unless it stands for one whose pieces are stored, and returns the reference to
   * it.
   */
  #reference(text: string, logId: number): string {
    const found = this.#longTexts?.read(text) ?? null;
    if (found === null) return this.keep(text, logId);
    for (const hash of new Set(found.hashes)) {
      if (this.#measure.get(hash) === undefined) throw piecesLost();
      this.#use.run(logId, hash);
    }
    return referenceText(found);
  }

  #find(reference: string, inParts: boolean): string {
    const found = parseReference(reference);
    if (found === null) throw new Damage('part of a record is malformed');
    const { hashes, rest } = found;
    if (inParts && this.#longTexts !== null && hashes.length > 1)
      return this.#longTexts.standIn(found);
    const pieces = hashes.map((hash) => this.piece(hash));
    if (pieces.includes(null)) throw new Damage('part of a record is missing');
    return pieces.join('') + rest;
  }
}

/** The hashes of the blobs that an encoded value names. */
export function blobHashes(text: string): string[] {
  if (!text.includes(MARK_IN_JSON)) return [];
  return [...text.matchAll(MARKS)].flatMap(([, hashes = '']) => splitHashes(hashes));
}

function isBlob(value: unknown): value is string {
  return typeof value === 'string' && (value.length > INLINE_CHARS_MAX || value.startsWith(MARK));
}

function isMark(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(MARK);
}
