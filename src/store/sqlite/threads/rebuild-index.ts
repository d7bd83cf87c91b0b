import type { Database } from 'better-sqlite3';

/** Whether a failure of SQLite says that the index of searches contradicts itself, and nothing of the rest. */
export function isIndexDamage(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'SQLITE_CORRUPT_VTAB';
}

/** Within a transaction: makes the index anew of the threads that there are. */
export function rebuildIndex(db: Database): void {
  db.exec(`
    INSERT INTO thread_index (thread_index) VALUES ('delete-all');
    DELETE FROM thread_text;
    INSERT INTO thread_text (thread_id, name, preview) SELECT id, folded(name), folded(preview) FROM thread;
  `);
}
