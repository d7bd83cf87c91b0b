import { createHash } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { isObject } from '../../../base/json-value.ts';
import { Damage } from '../connect/as-store-error.ts';
import { changeIds, type PartialChange, withChanges } from '../history/partial-rows.ts';
import { copyQueued, lostQueued } from './copy-queued.ts';
import { fillGaps, NEEDED_ENDS } from './fill-gaps.ts';
import { dropUnusedSegments, historyCopier } from './history-copier.ts';
import type { Salvage } from './lost-records.ts';
import { unlessDamaged } from './readable-rows.ts';
import { SalvageSource } from './salvage-source.ts';
import { SalvageTarget } from './salvage-target.ts';

/** The columns of `thread` that are JSON. */
const THREAD_JSON = [
  'origin',
  'git_info',
  'settings',
  'token_usage',
  'told',
  'goal',
  'queue',
] as const;
/** Those of them that may be null. */
const DISPENSABLE = ['git_info', 'token_usage', 'told', 'goal', 'queue'] as const;
/**
 * A log is no longer than this beyond what its histories need: a larger ordinal is a damaged
 * number.
 */
const ORDINALS_BEYOND_MAX = 10_000;

interface Source {
  /** Null: nothing of it can be read. */
  db: Database | null;
  onProgress: (table: string) => void;
}

/**
 * Copies all threads and logs that can be read into an empty database with the current tables.
 * Reads the tables only, no index, and makes indexes, the search index and the uses of blobs anew.
 * A lost record is replaced by a record of the kind `lost`, which readers skip, so the rest of its
 * thread can be used. Leases and held logs are left out: they belong to running processes.
 */
export function salvageDatabase({ db: source, onProgress }: Source, db: Database): Salvage {
  const losses: Salvage['losses'] = {
    threads: [],
    wholeThreads: 0,
    unfinishedItems: 0,
    queued: 0,
    everything: source === null,
  };
  if (source === null) return { threads: 0, losses };
  db.pragma('foreign_keys = OFF');
  const from = new SalvageSource(source, onProgress);
  const target = new SalvageTarget(db);
  db.exec('BEGIN');
  const shortened = copyThreads(from, target);
  copyEntries(from, target);
  losses.unfinishedItems = copyPartials(from, target);
  copyQueued(from, target);
  losses.unfinishedItems += copyBlobs(from, target);
  losses.queued = lostQueued(target);
  const records = fillGaps(db);
  losses.wholeThreads = lostThreads(from, target);
  keepLogNumbers(from, target);
  db.exec('COMMIT');
  for (const threadId of shortened) records.set(threadId, (records.get(threadId) ?? 0) + 1);
  losses.threads = [...records].map(([threadId, lost]) => ({ threadId, records: lost }));
  const threads = Number(db.prepare('SELECT count(*) FROM thread').pluck().get());
  losses.everything = threads === 0 && losses.wholeThreads > 0;
  return { threads, losses };
}

/** Returns the ids of the threads that lost a part of their row or the list of their logs. */
function copyThreads(from: SalvageSource, target: SalvageTarget): string[] {
  const columns = target.db
    .prepare<[], string>("SELECT name FROM pragma_table_info('thread')")
    .pluck()
    .all();
  const copyHistory = historyCopier(from, target);
  const shortened: string[] = [];
  for (const { rowid: _, ...row } of from.rows('thread', columns)) {
    const thread: Record<string, unknown> = { ...row, path: row.path ?? null };
    if (thread.originator === undefined) thread.originator = originatorOf(thread.origin);
    const isWhole = dropUnreadable(thread);
    if (!isThread(thread) || !target.insert('thread', thread)) {
      from.damaged.add('thread');
      continue;
    }
    const hasHistory = copyHistory({ threadId: String(thread.id), logId: Number(thread.log_id) });
    if (!hasHistory || !isWhole) shortened.push(String(thread.id));
    target.noteBlobs(thread.log_id, THREAD_JSON.map((column) => String(thread[column])).join());
  }
  dropUnusedSegments(target);
  target.db.exec(
    'INSERT OR IGNORE INTO log (id) SELECT log_id FROM history UNION SELECT log_id FROM shared_segment',
  );
  return shortened;
}

function copyEntries(from: SalvageSource, target: SalvageTarget): void {
  const columns = ['log_id', 'ordinal', 'kind', 'type', 'turn_id', 'item_id', 'payload'];
  const last = target.db
    .prepare<[unknown], number | null>(`SELECT max(last) FROM (${NEEDED_ENDS}) WHERE log_id = ?`)
    .pluck();
  const needed = new Map<unknown, number | null>();
  for (const { rowid: _, ...entry } of from.rows('entry', columns)) {
    let end = needed.get(entry.log_id);
    if (end === undefined) {
      end = last.get(entry.log_id) ?? null;
      needed.set(entry.log_id, end);
    }
    const isIn =
      end !== null &&
      Number(entry.ordinal) >= 1 &&
      Number(entry.ordinal) <= end + ORDINALS_BEYOND_MAX;
    if (!isIn || !isEntry(entry.payload) || !target.insert('entry', entry)) continue;
    target.noteBlobs(entry.log_id, String(entry.payload));
  }
}

/**
 * Copies the blobs that are used and whole. What has lost a blob is lost too. Returns how many
 * unfinished items are.
 */
function copyBlobs(from: SalvageSource, target: SalvageTarget): number {
  const isUsed = target.db
    .prepare<[unknown], number>('SELECT 1 FROM blob_use WHERE hash = ? LIMIT 1')
    .pluck();
  for (const { hash, content } of from.rows('blob', ['hash', 'content'])) {
    if (isUsed.get(hash) === undefined || typeof content !== 'string') continue;
    if (createHash('sha256').update(content).digest('hex') === hash)
      target.insert('blob', { hash, content });
  }
  const missing = target.db
    .prepare<[], { log_id: number; hash: string }>(
      'SELECT log_id, hash FROM blob_use WHERE hash NOT IN (SELECT hash FROM blob)',
    )
    .all();
  const dropEntries = target.db.prepare('DELETE FROM entry WHERE log_id = ? AND instr(payload, ?)');
  const dropThread = target.db.prepare(
    `DELETE FROM thread WHERE log_id = ? AND instr(${THREAD_JSON.join(' || ')}, ?)`,
  );
  const dropPartials = target.db.prepare(
    'DELETE FROM partial WHERE thread_id IN (SELECT id FROM thread WHERE log_id = ?) AND instr(payload, ?)',
  );
  const dropQueued = target.db.prepare(
    'DELETE FROM queued_submission WHERE thread_id IN (SELECT id FROM thread WHERE log_id = ?) AND instr(payload, ?)',
  );
  let partials = 0;
  for (const { log_id, hash } of missing) {
    partials += dropPartials.run(log_id, hash).changes;
    dropQueued.run(log_id, hash);
    dropEntries.run(log_id, hash);
    dropThread.run(log_id, hash);
  }
  if (missing.length === 0) return 0;
  target.db.exec(`
    DELETE FROM blob_use WHERE hash NOT IN (SELECT hash FROM blob);
    DELETE FROM history WHERE thread_id NOT IN (SELECT id FROM thread);
    DELETE FROM partial WHERE thread_id NOT IN (SELECT id FROM thread);
    DELETE FROM queued_submission WHERE thread_id NOT IN (SELECT id FROM thread);
  `);
  dropUnusedSegments(target);
  return partials;
}

/** The number of threads that the source names and the target does not have. */
function lostThreads(from: SalvageSource, target: SalvageTarget): number {
  const has = target.db.prepare<[unknown], number>('SELECT 1 FROM thread WHERE id = ?').pluck();
  let lost = 0;
  for (const { thread_id } of from.rows('thread_text', ['thread_id']))
    if (has.get(thread_id) === undefined) lost++;
  return Math.max(lost, from.damaged.has('thread') ? 1 : 0);
}

/** Returns how many unfinished items were lost at least. */
function copyPartials(from: SalvageSource, target: SalvageTarget): number {
  const logOf = target.db
    .prepare<[unknown], number>('SELECT log_id FROM thread WHERE id = ?')
    .pluck();
  let lost = 0;
  const changesOf = changeReader(from.db);
  for (const { rowid, ...partial } of from.rows('partial', [
    'thread_id',
    'item_id',
    'saved_at',
    'payload',
  ])) {
    const logId = logOf.get(partial.thread_id);
    if (logId === undefined) continue;
    const changed = changesOf(rowid, partial);
    if (changed === null) lost++;
    if (!isPartial(partial.payload)) continue;
    const copied = changed ?? partial;
    if (target.insert('partial', copied)) target.noteBlobs(logId, String(copied.payload));
  }
  return Math.max(lost, from.damaged.has('partial') ? 1 : 0);
}

/** Brings an unfinished item up to date. The function returns null if a part of it is lost. */
function changeReader(
  db: Database,
): (number: number, partial: Record<string, unknown>) => Record<string, unknown> | null {
  const changes = unlessDamaged(() =>
    db.prepare<[number, number], PartialChange>(
      'SELECT saved_at, change FROM partial_change WHERE id BETWEEN ? AND ? ORDER BY id',
    ),
  );
  return (number, partial) => {
    const found = changes === null ? [] : unlessDamaged(() => changes.all(...changeIds(number)));
    if (found === null || typeof partial.payload !== 'string') return null;
    try {
      const payload = withChanges(partial.payload, found);
      return isPartial(payload)
        ? { ...partial, payload, saved_at: found.at(-1)?.saved_at ?? partial.saved_at }
        : null;
    } catch (error) {
      if (error instanceof Damage) return null;
      throw error;
    }
  };
}

/**
 * Numbers of logs are never used twice, because a cursor may have that of a log that was removed.
 */
function keepLogNumbers(from: SalvageSource, target: SalvageTarget): void {
  const last = unlessDamaged(() =>
    from.db.prepare<[], number>("SELECT seq FROM sqlite_sequence WHERE name = 'log'").pluck().get(),
  );
  const used = Number(
    target.db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'log'").pluck().get() ?? 0,
  );
  if (typeof last !== 'number' || !Number.isSafeInteger(last) || last <= used) return;
  target.db.prepare('INSERT INTO log (id) VALUES (?)').run(last);
  target.db.prepare('DELETE FROM log WHERE id = ?').run(last);
}

/** Empties what a thread can do without and cannot be read. Returns false if there was any. */
function dropUnreadable(thread: Record<string, unknown>): boolean {
  const unreadable = DISPENSABLE.filter(
    (column) => thread[column] !== undefined && !isJson(thread[column]),
  );
  for (const column of unreadable) thread[column] = 'null';
  return unreadable.length === 0;
}

/** Whether a row can be a thread: the database holds its types, and this its JSON. */
function isThread(thread: Record<string, unknown>): boolean {
  return (
    /^[\w-]{8,}$/.test(String(thread.id)) &&
    THREAD_JSON.every((column) => thread[column] === undefined || isJson(thread[column]))
  );
}

function isEntry(payload: unknown): boolean {
  const entry = parsed(payload);
  return isObject(entry) && typeof entry.kind === 'string';
}

function isPartial(payload: unknown): boolean {
  const partial = parsed(payload);
  return isObject(partial) && isObject(partial.item);
}

function isJson(text: unknown): boolean {
  return parsed(text) !== undefined;
}

/** Returns undefined for anything but JSON. */
function parsed(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

function originatorOf(origin: unknown): unknown {
  const value = parsed(origin);
  return isObject(value) && typeof value.originator === 'string' ? value.originator : null;
}
