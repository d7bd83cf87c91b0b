import type { Database, Statement } from 'better-sqlite3';
import type { ThreadMemoryMode } from '../../../protocol/generated/types.ts';
import { storable } from '../../fold-case.ts';
import { spawnSource } from '../../spawn-source.ts';
import { threadNotFound } from '../../store-error.ts';
import type {
  ThreadChange,
  ThreadMetadata,
  ThreadPatch,
  ThreadRecord,
} from '../../thread-record.ts';
import { Damage, FileDamage } from '../as-store-error.ts';
import { defineFolded } from '../database/define-folded.ts';
import type { Blobs } from '../history/blobs.ts';
import { AgentRows, IDS_BELOW } from './agent-rows.ts';
import { patchColumns } from './patch-columns.ts';
import { originOf, sourceKind, type ThreadOrigin, withGitFields } from './thread-origin.ts';
import { type Search, ThreadSearch } from './thread-search.ts';

/** A row of the table of threads. */
interface Row {
  id: string;
  created_at: number;
  updated_at: number;
  recency_at: number;
  listed: number;
  archived_at: number | null;
  provider: string;
  cwd: string;
  source_kind: string;
  originator: string | null;
  name: string | null;
  preview: string;
  preview_is_command: 0 | 1;
  path: string | null;
  log_id: number;
  tip: number;
  written_at: number;
  origin: string;
  git_info: string;
  settings: string;
  token_usage: string;
  told: string;
  memory_mode: ThreadMemoryMode | null;
  daybreak: number | null;
  goal: string;
  parent_id: string | null;
  agent_closed_at: number | null;
}

type MetadataRow = Pick<Row, 'name' | 'git_info' | 'memory_mode' | 'daybreak'>;
type Changes = Partial<Omit<Row, 'id' | 'log_id' | 'tip'>>;

/**
 * The log that a thread's writer appends to, the ordinal of its last entry, and when that was
 * appended.
 */
export interface ThreadTip {
  logId: number;
  tip: number;
  writtenAtMs: number;
}

/**
 * A tip, and the identity of the last write of a writer. Null: none has written since the thread
 * was stored.
 */
export type WrittenTip = ThreadTip & { writeId: string | null };

/**
 * The parameters of a list of threads, in the terms of the table. Each filter is a JSON array, or
 * null for all.
 */
export interface ThreadListParams {
  live: 0 | 1;
  value: number;
  id: string;
  providers: string | null;
  cwds: string | null;
  sources: string | null;
  originators: string | null;
  parentId: string | null;
  ancestorId: string | null;
  excludedIds: string | null;
  limit: number;
}
export type ThreadOrder = {
  column: 'created_at' | 'updated_at' | 'recency_at';
  descending: boolean;
  inclusive: boolean;
};

const COLUMNS =
  'id, created_at, updated_at, recency_at, listed, archived_at, provider, cwd, source_kind, originator, name, preview, preview_is_command, path, log_id, tip, written_at, origin, git_info, settings, token_usage, told, memory_mode, daybreak, goal, parent_id, agent_closed_at';

const THREADS_HIT =
  '(SELECT value AS hit FROM json_each(@hits)) CROSS JOIN thread ON thread.id = hit';
const HOLDS_TERM =
  'EXISTS (SELECT 1 FROM thread_text WHERE thread_id = thread.id AND (instr(thread_text.name, @term) OR instr(thread_text.preview, @term)))';

/** The threads of one database, without their histories. */
export class ThreadRows {
  readonly agents: AgentRows;
  readonly #db: Database;
  readonly #blobs: Blobs;
  readonly #insert: Statement<[Row]>;
  readonly #get: Statement<[string], Row>;
  readonly #getMetadata: Statement<[string], MetadataRow>;
  readonly #getTip: Statement<[string], WrittenTip>;
  readonly #getByPath: Statement<[string], Row>;
  readonly #archivedAtMs: Statement<[string], number | null>;
  readonly #advance: Statement<[number, number, string | null, string, number]>;
  readonly #search: ThreadSearch;
  readonly #lists = new Map<string, Statement<[ThreadListParams & Search], Row>>();
  readonly #move: Statement<[number, number, number, string, string]>;
  readonly #remove: Statement<[string]>;
  readonly #archive: Statement<[number, string]>;
  readonly #updates = new Map<string, Statement<[Changes & { id: string }]>>();

  constructor(db: Database, blobs: Blobs) {
    this.#db = db;
    this.#blobs = blobs;
    defineFolded(db);
    this.#search = new ThreadSearch(db);
    this.#insert = db.prepare(
      `INSERT INTO thread (${COLUMNS}) VALUES (${COLUMNS.replace(/\w+/g, '@$&')})`,
    );
    this.#get = db.prepare(`SELECT ${COLUMNS} FROM thread WHERE id = ?`);
    this.#getMetadata = db.prepare(
      'SELECT name, git_info, memory_mode, daybreak FROM thread WHERE id = ?',
    );
    this.#getTip = db.prepare(
      'SELECT log_id AS logId, tip, written_at AS writtenAtMs, write_id AS writeId FROM thread WHERE id = ?',
    );
    this.agents = new AgentRows(db, (text) => this.#decode(text, { without: 'clientTools' }));
    this.#archivedAtMs = db
      .prepare<[string], number | null>('SELECT archived_at FROM thread WHERE id = ?')
      .pluck();
    this.#getByPath = db.prepare(`SELECT ${COLUMNS} FROM thread WHERE path = ?`);
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

  insert(record: ThreadRecord, { logId, tip, writtenAtMs }: ThreadTip): void {
    this.#insert.run({
      id: record.id,
      created_at: record.createdAtMs,
      updated_at: record.updatedAtMs,
      recency_at: record.recencyAtMs,
      listed: record.listed ? 1 : 0,
      archived_at: record.archivedAtMs,
      provider: record.settings.modelProvider,
      cwd: record.settings.cwd,
      source_kind: sourceKind(record.source),
      originator: record.originator === null ? null : storable(record.originator),
      name: record.name === null ? null : storable(record.name),
      preview: storable(record.preview),
      preview_is_command: record.previewIsCommand ? 1 : 0,
      path: record.path,
      log_id: logId,
      tip,
      written_at: writtenAtMs,
      origin: this.#blobs.encode(originOf(record), logId),
      git_info: this.#blobs.encode(record.gitInfo, logId),
      settings: this.#blobs.encode(record.settings, logId),
      token_usage: this.#blobs.encode(record.tokenUsage, logId),
      told: this.#blobs.encode(record.told, logId),
      memory_mode: record.memoryMode,
      daybreak: toInteger(record.daybreakEnabled),
      goal: this.#blobs.encode(record.goal, logId),
      parent_id: spawnSource(record.source)?.parent_thread_id ?? null,
      agent_closed_at: record.agentClosedAtMs,
    });
  }

  get(threadId: string): ThreadRecord | null {
    const row = this.#get.get(threadId);
    return row === undefined ? null : this.#record(row);
  }

  metadata(threadId: string): ThreadMetadata | null {
    const row = this.#getMetadata.get(threadId);
    return row === undefined ? null : this.#metadataOf(row);
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
    return row === undefined ? null : this.#record(row);
  }

  list(order: ThreadOrder, params: ThreadListParams, searchTerm: string | null): ThreadRecord[] {
    const search = searchTerm === null ? { term: null, hits: null } : this.#search.find(searchTerm);
    return this.#lister(order, search, params)
      .all({ ...params, ...search })
      .map((row) => this.#record(row, { without: 'clientTools' }));
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
    const { gitInfo, settings, tokenUsage, told, goal } = record;
    this.patch(threadId, { gitInfo, settings, tokenUsage, told, goal }, logId);
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
    if (tip === null) throw threadNotFound(threadId);
    const { gitFields, ...patch } = change;
    const gitInfo = gitFields && {
      gitInfo: withGitFields(this.#existing(threadId).gitInfo, gitFields),
    };
    this.patch(threadId, { ...patch, ...gitInfo }, tip.logId);
    return this.#existing(threadId);
  }

  patch(threadId: string, patch: ThreadPatch, logId: number): void {
    const changes = this.#changes(patch, logId);
    const row = this.#get.get(threadId);
    // SQLite writes the index of a column that is set, even if its value stays.
    const columns = (Object.keys(changes) as (keyof Changes)[]).filter(
      (column) => row === undefined || changes[column] !== row[column],
    );
    if (columns.length === 0) return;
    const key = columns.join();
    let statement = this.#updates.get(key);
    if (statement === undefined) {
      statement = this.#db.prepare(
        `UPDATE thread SET ${columns.map((column) => `${column} = @${column}`).join(', ')} WHERE id = @id`,
      );
      this.#updates.set(key, statement);
    }
    statement.run({ ...changes, id: threadId });
  }

  #existing(threadId: string): ThreadRecord {
    const record = this.get(threadId);
    if (record === null) throw threadNotFound(threadId);
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

  /**
   * A search with few hits starts from the hits and sorts them. One with many follows the order and
   * compares each row.
   */
  #lister(
    { column, descending, inclusive }: ThreadOrder,
    { term, hits }: Search,
    { parentId, ancestorId }: Pick<ThreadListParams, 'parentId' | 'ancestorId'>,
  ): Statement<[ThreadListParams & Search], Row> {
    const direction = descending ? 'DESC' : 'ASC';
    const comparison = `${descending ? '<' : '>'}${inclusive ? '=' : ''}`;
    const key = [
      column,
      comparison,
      term !== null,
      hits !== null,
      parentId !== null,
      ancestorId !== null,
    ].join();
    let statement = this.#lists.get(key);
    if (statement === undefined) {
      statement = this.#db.prepare(
        `SELECT ${COLUMNS} FROM ${hits === null ? 'thread' : THREADS_HIT}
         WHERE listed = 1 AND (archived_at IS NULL) = @live AND (${column}, id) ${comparison} (@value, @id)
           AND (@providers IS NULL OR provider IN (SELECT value FROM json_each(@providers)))
           AND (@cwds IS NULL OR cwd IN (SELECT value FROM json_each(@cwds)))
           AND (@sources IS NULL OR source_kind IN (SELECT value FROM json_each(@sources)))
           AND (@originators IS NULL OR originator IN (SELECT value FROM json_each(@originators)))
           ${parentId === null ? '' : 'AND parent_id = @parentId'}
           ${ancestorId === null ? '' : `AND id IN (${IDS_BELOW})`}
           AND (@excludedIds IS NULL OR id NOT IN (SELECT value FROM json_each(@excludedIds)))
           ${term !== null && hits === null ? `AND ${HOLDS_TERM}` : ''}
         ORDER BY ${column} ${direction}, id ${direction} LIMIT @limit`,
      );
      this.#lists.set(key, statement);
    }
    return statement;
  }

  /** `without`: the field of the origin that is not read. */
  #record(row: Row, options?: { without: keyof ThreadOrigin }): ThreadRecord {
    const origin = this.#decode(row.origin, options) as ThreadOrigin;
    return {
      id: row.id,
      sessionId: origin.sessionId,
      createdAtMs: row.created_at,
      updatedAtMs: row.updated_at,
      recencyAtMs: row.recency_at,
      listed: row.listed === 1,
      archivedAtMs: row.archived_at,
      ephemeral: origin.ephemeral,
      preview: row.preview,
      previewIsCommand: row.preview_is_command === 1,
      path: row.path,
      forkedFromId: origin.forkedFromId,
      source: origin.source,
      threadSource: origin.threadSource,
      originator: origin.originator,
      cliVersion: origin.cliVersion,
      settings: this.#decode(row.settings) as ThreadRecord['settings'],
      tokenUsage: this.#decode(row.token_usage) as ThreadRecord['tokenUsage'],
      told: this.#decode(row.told) as ThreadRecord['told'],
      goal: this.#decode(row.goal) as ThreadRecord['goal'],
      agentClosedAtMs: row.agent_closed_at,
      spawnTurnId: origin.spawnTurnId ?? null,
      clientTools: options === undefined ? (origin.clientTools ?? null) : null,
      ...this.#metadataOf(row),
    };
  }

  /** A row that cannot be decoded would make every list fail, so the file must be repaired. */
  #decode(text: string, options?: { without: string }): unknown {
    try {
      return this.#blobs.decode(text, options);
    } catch (error) {
      if (error instanceof Damage)
        throw new FileDamage('a thread cannot be read', { cause: error });
      throw error;
    }
  }

  #metadataOf(row: MetadataRow): ThreadMetadata {
    return {
      name: row.name,
      gitInfo: this.#decode(row.git_info) as ThreadRecord['gitInfo'],
      memoryMode: row.memory_mode,
      daybreakEnabled: row.daybreak === null ? null : row.daybreak === 1,
    };
  }
}

function toInteger(flag: boolean | null): number | null {
  return flag === null ? null : Number(flag);
}
