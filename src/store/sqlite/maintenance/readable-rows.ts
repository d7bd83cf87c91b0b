import type { Database } from 'better-sqlite3';
import { systemErrorCode } from '../../../base/system-error-code.ts';

const ROWS_AT_ONCE = 100;
const ROWID_MAX = Number.MAX_SAFE_INTEGER;

/** A row of a table that may be damaged: its number, and its columns by name. */
export type ReadableRow = Record<string, unknown> & { rowid: number };

/**
 * Yields all rows of a table that can be read, in the order of their numbers, and calls `onDamage`
 * for each stretch of rows that cannot. Uses no index. It always ends: the numbers only grow, and
 * the search for the end of a stretch takes as many steps as they have bits.
 */
export function* readableRows(
  db: Database,
  { table, columns }: { table: string; columns: readonly string[] },
  onDamage: () => void,
) {
  const rowsFrom = db.prepare<[number, number], ReadableRow>(
    `SELECT ${['rowid AS rowid', ...columns].join(', ')} FROM ${table} NOT INDEXED WHERE rowid >= ? ORDER BY rowid LIMIT ?`,
  );
  const read = (from: number, limit: number) =>
    unlessDamaged(() => {
      const rows = rowsFrom.all(from, limit);
      return isAscending(rows, from) ? rows : null;
    });
  let next = 1;
  while (next <= ROWID_MAX) {
    const rows = read(next, ROWS_AT_ONCE) ?? read(next, 1);
    if (rows === null) {
      onDamage();
      next = endOfDamage(next, (from) => read(from, 1) !== null);
      continue;
    }
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    next = last.rowid + 1;
  }
}

/** Returns null if an error of SQLite says that the database is damaged. */
export function unlessDamaged<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    const code = systemErrorCode(error) ?? '';
    if (/^SQLITE_(CORRUPT|NOTADB|IOERR|ERROR|FORMAT)/.test(code)) return null;
    throw error;
  }
}

/**
 * Returns a number behind `from` where reading is possible again, and directly before which it is
 * not.
 */
function endOfDamage(from: number, isReadable: (from: number) => boolean): number {
  let step = 1;
  while (from + step <= ROWID_MAX && !isReadable(from + step)) step *= 2;
  let [damaged, readable] = [from + Math.floor(step / 2), Math.min(from + step, ROWID_MAX + 1)];
  while (damaged + 1 < readable) {
    const middle = damaged + Math.floor((readable - damaged) / 2);
    if (isReadable(middle)) readable = middle;
    else damaged = middle;
  }
  return readable;
}

/** A damaged tree can return rows twice or in disorder. */
function isAscending(rows: readonly ReadableRow[], from: number): boolean {
  return rows.every(
    ({ rowid }, index) =>
      Number.isSafeInteger(rowid) &&
      rowid >= (index === 0 ? from : (rows[index - 1]?.rowid ?? 0) + 1),
  );
}
