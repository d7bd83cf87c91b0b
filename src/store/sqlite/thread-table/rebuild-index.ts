import type { Database } from 'better-sqlite3';

/** Whether an error of SQLite means that the search index is damaged, and only that. */
export function isIndexDamage(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'SQLITE_CORRUPT_VTAB';
}

/** Rebuilds the search index from the threads. Call it within a transaction. */
export function rebuildIndex(db: Database): void {
  db.exec(`
    INSERT INTO thread_index (thread_index) VALUES ('delete-all');
    DELETE FROM thread_text;
    INSERT INTO thread_text (thread_id, name, preview) SELECT id, folded(name), folded(preview) FROM thread;
  `);
}
