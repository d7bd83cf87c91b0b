import type { Database, Statement } from 'better-sqlite3';
import { foldCase } from './fold-case.ts';

/** Of more hits than this a list in its order comes upon enough of them, sooner than they could be sorted. */
const HITS_MAX = 500;
/** What a longer term goes on with is left to the comparison with the text. */
const INDEXED_CHARS_MAX = 18;
const LAST_CHARACTER = '\u{10ffff}';

/** What a list is to be searched for. */
export interface Search {
  /** Folded; null: nothing. */
  term: string | null;
  /** JSON array of the ids of all threads whose name or preview holds the term; null where they are too many. */
  hits: string | null;
}

interface Term {
  term: string;
  /** A query for its trigrams, all of them. */
  trigrams: string;
  /** Between which trigrams those lie that begin with it. */
  from: string;
  to: string;
}

type Finder = Statement<[Term], string>;

/** Finds threads by what their names and previews hold, by way of the index of trigrams. */
export class ThreadSearch {
  readonly #db: Database;
  /** Prepared with the first search, since that opens the index. */
  #finders: { byTrigrams: Finder; byBeginning: Finder } | null = null;

  constructor(db: Database) {
    this.#db = db;
  }

  /** A term is taken character for character, but for its case. */
  find(searchTerm: string): Search {
    const term = foldCase(searchTerm);
    const trigrams = trigramsOf(term);
    this.#finders ??= prepareFinders(this.#db);
    const statement = trigrams.length === 0 ? this.#finders.byBeginning : this.#finders.byTrigrams;
    const ids = statement.all({ term, trigrams: trigrams.join(' AND '), from: term, to: term + LAST_CHARACTER.repeat(3) });
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

/** The trigrams that a text begins with, quoted for a query; none where it is shorter than one. */
function trigramsOf(text: string): string[] {
  // A character takes up to two places of a string.
  const characters = [...text.slice(0, 2 * INDEXED_CHARS_MAX)].slice(0, INDEXED_CHARS_MAX);
  const trigrams = characters.slice(2).map((third, at) => `${characters[at]}${characters[at + 1]}${third}`);
  return trigrams.map((trigram) => `"${trigram.replaceAll('"', '""')}"`);
}
