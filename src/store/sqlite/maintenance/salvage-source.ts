import type { Database } from 'better-sqlite3';
import { type ReadableRow, readableRows, unlessDamaged } from './readable-rows.ts';

/** The tables of a database that may be damaged, as far as they can be read. */
export class SalvageSource {
  readonly db: Database;
  /** The tables in which rows could not be read. */
  readonly damaged = new Set<string>();
  readonly #onProgress: (table: string) => void;

  constructor(db: Database, onProgress: (table: string) => void) {
    this.db = db;
    this.#onProgress = onProgress;
  }

  *rows(table: string, columns: readonly string[]): Generator<ReadableRow> {
    this.#onProgress(table);
    const known = this.#columnsOf(table);
    const present = columns.filter((column) => known.includes(column));
    if (known.length === 0) this.damaged.add(table);
    else yield* readableRows(this.db, { table, columns: present }, () => this.damaged.add(table));
  }

  /** Whether the list of the tables has this one. */
  hasTable(table: string): boolean {
    return this.#columnsOf(table).length > 0;
  }

  #columnsOf(table: string): string[] {
    return (
      unlessDamaged(() =>
        this.db.prepare<[], string>(`SELECT name FROM pragma_table_info('${table}')`).pluck().all(),
      ) ?? []
    );
  }
}
