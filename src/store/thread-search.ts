import type { Database, Statement } from 'better-sqlite3';
import { foldCase } from './fold-case.ts';

/** Of more hits than this a list in its order comes upon enough of them, sooner than they could be sorted. */
const HITS_MAX = 500;
/** What else a long term holds is left to the comparison with the text. */
const TRIGRAMS_MAX = 16;
const TRIGRAM_CHARS = 3;

/** What a list is to be searched for. */
export interface Search {
  /** Folded; null: nothing. */
  term: string | null;
  /** JSON array of the ids of all threads whose name or preview holds the term; null where they are too many. */
  hits: string | null;
}

interface Term {
  term: string;
  /** How a trigram of it begins, and where such trigrams end; or a query for several. */
  from: string;
  to: string;
  trigrams: string;
}

/** Finds threads by what their names and previews hold, by way of the index of trigrams. */
export class ThreadSearch {
  readonly #byTrigrams: Statement<[Term], string>;
  readonly #byBeginning: Statement<[Term], string>;

  constructor(db: Database) {
    const holding = `(instr(thread_text.name, @term) OR instr(thread_text.preview, @term)) LIMIT ${HITS_MAX + 1}`;
    this.#byTrigrams = db
      .prepare<[Term], string>(
        `SELECT thread_id FROM thread_index CROSS JOIN thread_text ON number = thread_index.rowid
         WHERE thread_index MATCH @trigrams AND ${holding}`,
      )
      .pluck();
    this.#byBeginning = db
      .prepare<[Term], string>(
        `SELECT DISTINCT thread_id FROM thread_trigram CROSS JOIN thread_text ON number = doc
         WHERE thread_trigram.term >= @from AND thread_trigram.term < @to AND ${holding}`,
      )
      .pluck();
  }

  /** A term is taken character for character, but for its case. */
  find(searchTerm: string): Search {
    const term = foldCase(searchTerm);
    const trigrams = trigramsOf(term);
    const statement = trigrams.length === 0 ? this.#byBeginning : this.#byTrigrams;
    const ids = statement.all({ term, from: term, to: `${term}\u{10ffff}`, trigrams: trigrams.join(' AND ') });
    return { term, hits: ids.length > HITS_MAX ? null : JSON.stringify(ids) };
  }
}

/** The first trigrams of a text, quoted for a query. */
function trigramsOf(text: string): string[] {
  const characters = [...text.slice(0, 2 * (TRIGRAMS_MAX + TRIGRAM_CHARS))].slice(0, TRIGRAMS_MAX + TRIGRAM_CHARS - 1);
  const starts = characters.slice(0, Math.max(0, characters.length - TRIGRAM_CHARS + 1));
  return starts.map(
    (_, at) =>
      `"${characters
        .slice(at, at + TRIGRAM_CHARS)
        .join('')
        .replaceAll('"', '""')}"`,
  );
}
