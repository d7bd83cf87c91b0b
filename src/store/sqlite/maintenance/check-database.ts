import type { Database } from 'better-sqlite3';
import { newer } from '../connect/as-store-error.ts';
import { databaseVersion } from '../database/database-version.ts';
import { SCHEMA_VERSION } from '../database/migrate.ts';
import { gapsOf } from './fill-gaps.ts';

/** More findings than this say nothing new. */
const FINDINGS_MAX = 50;

/** A state that a table must not have, and the words for it. */
const RULES: { text: string; sql: string }[] = [
  {
    text: 'records cannot be parsed',
    sql: 'SELECT count(*) FROM entry WHERE NOT json_valid(payload)',
  },
  {
    text: 'long strings are missing',
    sql: 'SELECT count(*) FROM blob_use WHERE hash NOT IN (SELECT hash FROM blob)',
  },
  {
    text: 'unfinished items cannot be parsed',
    sql: 'SELECT count(*) FROM partial WHERE NOT json_valid(payload)',
  },
  {
    text: 'entries of queues cannot be parsed',
    sql: 'SELECT count(*) FROM queued_submission WHERE NOT json_valid(payload)',
  },
  {
    text: 'threads have lost a part of their lists of logs',
    sql: `
      WITH RECURSIVE whole (id) AS (
        SELECT 0
        UNION
        SELECT s.id FROM whole JOIN shared_segment AS s ON s.before_id = whole.id AND s.id > whole.id
      )
      SELECT count(*) FROM thread LEFT JOIN history ON history.thread_id = thread.id AND history.log_id = thread.log_id
        WHERE before_id IS NULL OR before_id NOT IN (SELECT id FROM whole)`,
  },
  {
    text: 'threads cannot be parsed',
    sql: `SELECT count(*) FROM thread WHERE NOT (json_valid(origin) AND json_valid(git_info) AND json_valid(settings)
      AND json_valid(token_usage) AND json_valid(told) AND json_valid(goal) AND json_valid(queue))`,
  },
];

/**
 * Returns what is wrong with a database, one sentence each; empty: nothing. Reads all of it. Throws
 * `store_newer`, and errors of SQLite if it cannot be read at all.
 */
export function checkDatabase(db: Database, file: string): string[] {
  const version = databaseVersion(db);
  if (version > SCHEMA_VERSION) throw newer(file, version, SCHEMA_VERSION);
  const rows = db.pragma(`integrity_check(${FINDINGS_MAX})`) as { integrity_check: string }[];
  const found = rows.map((row) => row.integrity_check);
  if (found.join() !== 'ok') return found;
  // A database of an earlier version gets the other tables and columns when it is opened.
  if (version < SCHEMA_VERSION) return [];
  const broken = RULES.map(({ text, sql }) => ({
    text,
    number: Number(db.prepare(sql).pluck().get()),
  })).filter(({ number }) => number > 0);
  const gaps = gapsOf(db).map(({ log_id, missing }) => `log ${log_id} lacks ${missing} records`);
  return [...broken.map(({ text, number }) => `${number} ${text}`), ...gaps].slice(0, FINDINGS_MAX);
}
