import type { Database, Statement } from 'better-sqlite3';
import { foldCase } from '../../fold-case.ts';

/**
 * If there are more hits than this, reading the list in its order finds a page of them faster than
 * sorting them.
 */
const HITS_MAX = 500;
/** The rest of a longer term is only compared with the text. */
const INDEXED_CHARS_MAX = 18;
const LAST_CHARACTER = '\u{10ffff}';

/** The search of a list. */
export interface Search {
  /** The folded search term; null: no search. */
  term: string | null;
  /**
   * A JSON array of the ids of all threads whose name or preview contains the term; null if they
   * are too many.
   */
  hits: string | null;
}

interface Term {
  term: string;
  /** A full-text query for all trigrams of the term. */
  trigrams: string;
  /** The range of the trigrams that begin with the term. */
  from: string;
  to: string;
}

type Finder = Statement<[Term], string>;

/** Finds threads by parts of their names and previews, with an index of trigrams. */
export class ThreadSearch {
  readonly #db: Database;
  /** Prepared at the first search, because preparing them opens the index. */
  #finders: { byTrigrams: Finder; byBeginning: Finder } | null = null;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Finds the term literally, ignoring case. */
  find(searchTerm: string): Search {
    const term = foldCase(searchTerm);
    const trigrams = trigramsOf(term);
    this.#finders ??= prepareFinders(this.#db);
    const statement = trigrams.length === 0 ? this.#finders.byBeginning : this.#finders.byTrigrams;
    const ids = statement.all({
      term,
      trigrams: trigrams.join(' AND '),
      from: term,
      to: term + LAST_CHARACTER.repeat(3),
    });
    return { term, hits: ids.length > HITS_MAX ? null : JSON.stringify(ids) };
  }
}

function prepareFinders(db: Database): { byTrigrams: Finder; byBeginning: Finder } {
  const holding = `(instr(thread_text.name, @term) OR instr(thread_text.preview, @term)) LIMIT ${HITS_MAX + 1}`;
  const byTrigrams = db
    .prepare<[Term], string>(
      `SELECT thread_id FROM thread_index CROSS JOIN thread_text ON number = thread_index.rowid
       WHERE thread_index MATCH @trigrams AND ${holding}`,
    )
    .pluck();
  const byBeginning = db
    .prepare<[Term], string>(
      `SELECT DISTINCT thread_id FROM thread_trigram CROSS JOIN thread_text ON number = doc
       WHERE thread_trigram.term >= @from AND thread_trigram.term < @to AND ${holding}`,
    )
    .pluck();
  return { byTrigrams, byBeginning };
}

/** The first trigrams of a text, quoted for a query; none if it has fewer than three characters. */
function trigramsOf(text: string): string[] {
  // A character has up to two UTF-16 units.
  const characters = [...text.slice(0, 2 * INDEXED_CHARS_MAX)].slice(0, INDEXED_CHARS_MAX);
  const trigrams = characters
    .slice(2)
    .map((third, at) => `${characters[at]}${characters[at + 1]}${third}`);
  return trigrams.map((trigram) => `"${trigram.replaceAll('"', '""')}"`);
}
