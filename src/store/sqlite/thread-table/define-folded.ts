import type { Database } from 'better-sqlite3';
import { foldCase } from '../../fold-case.ts';

/**
 * Defines the SQL function `folded(text)` for the triggers. It returns an empty string for null.
 */
export function defineFolded(db: Database): void {
  db.function('folded', { deterministic: true }, (text) =>
    text === null ? '' : foldCase(String(text)),
  );
}
