import type { ThreadMemoryMode } from '../../../protocol/generated/types.ts';
import { storable } from '../../fold-case.ts';
import type { QueueHold } from '../../queue-record.ts';
import { spawnSource } from '../../spawn-source.ts';
import type { ThreadMetadata, ThreadRecord } from '../../thread-record.ts';
import { Damage, FileDamage } from '../connect/as-store-error.ts';
import type { Blobs } from '../history/blobs.ts';
import { originOf, type StoredThreadOrigin, sourceKind } from './stored-thread-origin.ts';
import type { ThreadTip } from './thread-tip.ts';

/** A row of the table of threads. */
export interface ThreadRow {
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
  queue: string;
  queue_hold: QueueHold | null;
  parent_id: string | null;
  agent_closed_at: number | null;
}

export type MetadataRow = Pick<ThreadRow, 'name' | 'git_info' | 'memory_mode' | 'daybreak'>;

/** The columns of a row, for a statement. */
export const THREAD_COLUMNS =
  'id, created_at, updated_at, recency_at, listed, archived_at, provider, cwd, source_kind, originator, name, preview, preview_is_command, path, log_id, tip, written_at, origin, git_info, settings, token_usage, told, memory_mode, daybreak, goal, queue, queue_hold, parent_id, agent_closed_at';

/** Converts between the rows of threads and their records. */
export class ThreadRowCodec {
  readonly #blobs: Blobs;

  constructor(blobs: Blobs) {
    this.#blobs = blobs;
  }

  toRow(record: ThreadRecord, { logId, tip, writtenAtMs }: ThreadTip): ThreadRow {
    return {
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
      queue: this.#blobs.encode(record.queue, logId),
      queue_hold: record.queueHold,
      parent_id: spawnSource(record.source)?.parent_thread_id ?? null,
      agent_closed_at: record.agentClosedAtMs,
    };
  }

  /** `without`: the field of the origin that is not read. */
  toRecord(row: ThreadRow, options?: { without: keyof StoredThreadOrigin }): ThreadRecord {
    const origin = this.decode(row.origin, options) as StoredThreadOrigin;
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
      settings: this.decode(row.settings) as ThreadRecord['settings'],
      tokenUsage: this.decode(row.token_usage) as ThreadRecord['tokenUsage'],
      told: this.decode(row.told) as ThreadRecord['told'],
      goal: this.decode(row.goal) as ThreadRecord['goal'],
      queue: this.decode(row.queue) as ThreadRecord['queue'],
      queueHold: row.queue_hold,
      agentClosedAtMs: row.agent_closed_at,
      spawnTurnId: origin.spawnTurnId ?? null,
      clientTools: options === undefined ? (origin.clientTools ?? null) : null,
      ...this.toMetadata(row),
    };
  }

  /** A row that cannot be decoded would make every list fail, so the file must be repaired. */
  decode(text: string, options?: { without: string }): unknown {
    try {
      return this.#blobs.decode(text, options);
    } catch (error) {
      if (error instanceof Damage)
        throw new FileDamage('a thread cannot be read', { cause: error });
      throw error;
    }
  }

  toMetadata(row: MetadataRow): ThreadMetadata {
    return {
      name: row.name,
      gitInfo: this.decode(row.git_info) as ThreadRecord['gitInfo'],
      memoryMode: row.memory_mode,
      daybreakEnabled: row.daybreak === null ? null : row.daybreak === 1,
    };
  }
}

/** For a column that has 0, 1 or NULL. */
export function toInteger(flag: boolean | null): number | null {
  return flag === null ? null : Number(flag);
}
