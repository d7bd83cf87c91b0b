import type { Database, Statement } from 'better-sqlite3';
import { storable } from '../../fold-case.ts';
import { noStoredThread } from '../../store-error.ts';
import type {
  ThreadChange,
  ThreadMetadata,
  ThreadPatch,
  ThreadRecord,
} from '../../thread-record.ts';
import type { Blobs } from '../history/blobs.ts';
import { AgentRows } from './agent-rows.ts';
import { defineFolded } from './define-folded.ts';
import { patchColumns } from './patch-columns.ts';
import { originOf, withGitFields } from './stored-thread-origin.ts';
import { ThreadLister, type ThreadListParams, type ThreadOrder } from './thread-lister.ts';
import {
  type MetadataRow,
  THREAD_COLUMNS,
  type ThreadRow,
  ThreadRowCodec,
  toInteger,
} from './thread-row-codec.ts';
import type { ThreadTip, WrittenTip } from './thread-tip.ts';

type Changes = Partial<Omit<ThreadRow, 'id' | 'log_id' | 'tip'>>;

/** The threads of one database, without their histories. */
export class ThreadRows {
  readonly agents: AgentRows;
  readonly #db: Database;
  readonly #blobs: Blobs;
  readonly #codec: ThreadRowCodec;
  readonly #lister: ThreadLister;
  readonly #insert: Statement<[ThreadRow]>;
  readonly #get: Statement<[string], ThreadRow>;
  readonly #getMetadata: Statement<[string], MetadataRow>;
  readonly #getTip: Statement<[string], WrittenTip>;
  readonly #getByPath: Statement<[string], ThreadRow>;
  readonly #archivedAtMs: Statement<[string], number | null>;
  readonly #advance: Statement<[number, number, string | null, string, number]>;
  readonly #move: Statement<[number, number, number, string, string]>;
  readonly #remove: Statement<[string]>;
  readonly #archive: Statement<[number, string]>;
  readonly #readers = new Map<string, Statement<[string], Changes>>();
  readonly #updates = new Map<string, Statement<[Changes & { id: string }]>>();

  constructor(db: Database, blobs: Blobs) {
    this.#db = db;
    this.#blobs = blobs;
    this.#codec = new ThreadRowCodec(blobs);
    defineFolded(db);
    this.#lister = new ThreadLister(db);
    this.#insert = db.prepare(
      `INSERT INTO thread (${THREAD_COLUMNS}) VALUES (${THREAD_COLUMNS.replace(/\w+/g, '@$&')})`,
    );
    this.#get = db.prepare(`SELECT ${THREAD_COLUMNS} FROM thread WHERE id = ?`);
    this.#getMetadata = db.prepare(
      'SELECT name, git_info, memory_mode, daybreak FROM thread WHERE id = ?',
    );
    this.#getTip = db.prepare(
      'SELECT log_id AS logId, tip, written_at AS writtenAtMs, write_id AS writeId FROM thread WHERE id = ?',
    );
    this.agents = new AgentRows(db, (text) => this.#codec.decode(text, { without: 'clientTools' }));
    this.#archivedAtMs = db
      .prepare<[string], number | null>('SELECT archived_at FROM thread WHERE id = ?')
      .pluck();
    this.#getByPath = db.prepare(`SELECT ${THREAD_COLUMNS} FROM thread WHERE path = ?`);
    this.#advance = db.prepare(
      'UPDATE thread SET tip = ?, written_at = ?, write_id = ? WHERE id = ? AND tip = ?',
    );
    this.#move = db.prepare(
      'UPDATE thread SET log_id = ?, tip = ?, written_at = ?, origin = ? WHERE id = ?',
    );
    this.#remove = db.prepare('DELETE FROM thread WHERE id = ?');
    this.#archive = db.prepare(
      'UPDATE thread SET archived_at = ? WHERE id = ? AND archived_at IS NULL',
    );
  }

  insert(record: ThreadRecord, tip: ThreadTip): void {
    this.#insert.run(this.#codec.toRow(record, tip));
  }

  get(threadId: string): ThreadRecord | null {
    const row = this.#get.get(threadId);
    return row === undefined ? null : this.#codec.toRecord(row);
  }

  metadata(threadId: string): ThreadMetadata | null {
    const row = this.#getMetadata.get(threadId);
    return row === undefined ? null : this.#codec.toMetadata(row);
  }

  tip(threadId: string): WrittenTip | null {
    return this.#getTip.get(threadId) ?? null;
  }

  /** Whether the thread's own log ends exactly here. */
  endsAt({ threadId, logId, tip }: { threadId: string; logId: number; tip: number }): boolean {
    const found = this.tip(threadId);
    return found?.logId === logId && found.tip === tip;
  }

  /** When a thread was archived; null: it is not. Undefined: there is no such thread. */
  archivedAtMs(threadId: string): number | null | undefined {
    return this.#archivedAtMs.get(threadId);
  }

  /**
   * Sets when a thread was archived, and changes nothing else. Returns false if there is none that
   * is not archived.
   */
  archive(threadId: string, atMs: number): boolean {
    return this.#archive.run(atMs, threadId).changes === 1;
  }

  findByPath(path: string): ThreadRecord | null {
    const row = this.#getByPath.get(path);
    return row === undefined ? null : this.#codec.toRecord(row);
  }

  list(order: ThreadOrder, params: ThreadListParams, searchTerm: string | null): ThreadRecord[] {
    return this.#lister
      .list(order, params, searchTerm)
      .map((row) => this.#codec.toRecord(row, { without: 'clientTools' }));
  }

  /**
   * Moves the tip of the thread's own log. Returns false if the tip is not `from`, because another
   * writer has appended.
   */
  advance(
    threadId: string,
    from: number,
    { tip, writtenAtMs, writeId }: Omit<WrittenTip, 'logId'>,
  ): boolean {
    return this.#advance.run(tip, writtenAtMs, writeId, threadId, from).changes === 1;
  }

  /**
   * Gives a thread another log of its own, which from then on also keeps the blobs of the thread's
   * record.
   */
  move(threadId: string, { logId, tip, writtenAtMs }: ThreadTip): void {
    const record = this.#existing(threadId);
    this.#move.run(logId, tip, writtenAtMs, this.#blobs.encode(originOf(record), logId), threadId);
    const { gitInfo, settings, tokenUsage, told, goal, queue } = record;
    this.patch(threadId, { gitInfo, settings, tokenUsage, told, goal, queue }, logId);
  }

  remove(threadId: string): void {
    this.#remove.run(threadId);
  }

  /**
   * Changes a thread and returns its new record. Call it within a transaction. Throws
   * `thread_not_found`.
   */
  update(threadId: string, change: ThreadChange): ThreadRecord {
    const tip = this.tip(threadId);
    if (tip === null) throw noStoredThread(threadId);
    const { gitFields, ...patch } = change;
    const gitInfo = gitFields && {
      gitInfo: withGitFields(this.#existing(threadId).gitInfo, gitFields),
    };
    this.patch(threadId, { ...patch, ...gitInfo }, tip.logId);
    return this.#existing(threadId);
  }

  patch(threadId: string, patch: ThreadPatch, logId: number): void {
    const changes = this.#changes(patch, logId);
    const given = Object.keys(changes) as (keyof Changes)[];
    if (given.length === 0) return;
    const row = this.#reader(given).get(threadId);
    // SQLite writes the index of a column that is set, even if its value stays.
    const columns = given.filter((column) => row === undefined || changes[column] !== row[column]);
    if (columns.length > 0) this.#updater(columns).run({ ...changes, id: threadId });
  }

  /** Reads no more than these columns: others may be long. */
  #reader(columns: readonly (keyof Changes)[]): Statement<[string], Changes> {
    return statementFor(this.#readers, columns, (names) =>
      this.#db.prepare(`SELECT ${names.join(', ')} FROM thread WHERE id = ?`),
    );
  }

  #updater(columns: readonly (keyof Changes)[]): Statement<[Changes & { id: string }]> {
    return statementFor(this.#updates, columns, (names) =>
      this.#db.prepare(
        `UPDATE thread SET ${names.map((name) => `${name} = @${name}`).join(', ')} WHERE id = @id`,
      ),
    );
  }

  #existing(threadId: string): ThreadRecord {
    const record = this.get(threadId);
    if (record === null) throw noStoredThread(threadId);
    return record;
  }

  #changes(patch: ThreadPatch, logId: number): Changes {
    const { name, preview, settings } = patch;
    const changes: Changes = {
      ...(name !== undefined && { name: name === null ? null : storable(name) }),
      ...(preview !== undefined && { preview: storable(preview) }),
      ...(settings && {
        settings: this.#blobs.encode(settings, logId),
        provider: settings.modelProvider,
        cwd: settings.cwd,
      }),
    };
    for (const [field, column] of patchColumns.plain)
      if (patch[field] !== undefined) Object.assign(changes, { [column]: patch[field] });
    for (const [field, column] of patchColumns.flags)
      if (patch[field] !== undefined) Object.assign(changes, { [column]: toInteger(patch[field]) });
    for (const [field, column] of patchColumns.encoded) {
      if (patch[field] !== undefined) changes[column] = this.#blobs.encode(patch[field], logId);
    }
    return changes;
  }
}

/** The statement for these columns, which is prepared at its first use. */
function statementFor<T>(
  known: Map<string, T>,
  columns: readonly string[],
  prepare: (columns: readonly string[]) => T,
): T {
  const key = columns.join();
  const statement = known.get(key) ?? prepare(columns);
  known.set(key, statement);
  return statement;
}
