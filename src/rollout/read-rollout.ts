import { cutText } from '../base/cut-text.ts';
import type { Ids } from '../base/ids.ts';
import { isAbsent } from '../base/system-error-code.ts';
import type { ThreadTokenUsage } from '../protocol/generated/types.ts';
import { noRolloutFoundAt, RpcError, rolloutInvalid } from '../protocol/rpc-error.ts';
import { type LogEntry, NAME_CHARS_MAX } from '../store/thread-store.ts';
import { findRollout } from './find-rollout.ts';
import { readLines } from './read-lines.ts';
import { type RolloutMeta, readMeta } from './rollout-meta.ts';
import { type LastSettings, RolloutReader } from './rollout-reader.ts';
import { parseRecord } from './rollout-record.ts';
import { threadName } from './thread-name.ts';

/** How many files a history may lie in, one beginning where another is left. */
const FILES_MAX = 64;
/** How many lines may come before the first that is a record, in a file that is a rollout. */
const LINES_BEFORE_META_MAX = 100;

/** A thread that another server of this protocol has written to a file. */
export interface Rollout {
  meta: RolloutMeta;
  name: string | null;
  /** Null where the thread has no turn. */
  last: LastSettings | null;
  tokenUsage: { turnId: string; usage: ThreadTokenUsage } | null;
  entries: LogEntry[];
  /** Unix milliseconds: when the last record was written. */
  updatedAtMs: number;
  /** Lines that could not be used: damaged, cut short or too long. Nothing else of the thread is lost with them. */
  skippedLines: number;
}

/** A rollout file, or as much of it as the thread of another one begins with. */
interface Part {
  path: string;
  bytes: number | undefined;
}

/**
 * Reads a rollout: lines of JSON with `timestamp`, `type` and `payload`. A thread that was forked from another, or
 * reverted, begins in another file, which is looked for and read too. Rejects with an RpcError that names the file and
 * what is wrong with it, where there is none, where it is no rollout, or where such a beginning is missing.
 */
export async function readRollout(path: string, { ids }: { ids: Ids }): Promise<Rollout> {
  try {
    const { meta, parts } = await openParts(path);
    const reader = new RolloutReader(ids, meta.createdAtMs);
    let skippedLines = 0;
    for (const part of parts) skippedLines += await readPart(part, reader);
    return {
      meta,
      name: cutName((await threadName(meta.id, path)) ?? reader.name),
      last: reader.last,
      tokenUsage: reader.tokenUsage,
      entries: reader.log.entries(),
      updatedAtMs: reader.log.nowMs,
      skippedLines: skippedLines + reader.unreadable,
    };
  } catch (error) {
    if (error instanceof RpcError) throw error;
    if (isAbsent(error)) throw noRolloutFoundAt(path);
    throw rolloutInvalid(path, error instanceof Error ? error.message : String(error));
  }
}

/** The files that a thread's history lies in, oldest first. */
async function openParts(path: string): Promise<{ meta: RolloutMeta; parts: Part[] }> {
  const meta = await openPart(path);
  const parts: Part[] = [{ path, bytes: undefined }];
  let { base } = meta;
  while (base !== null) {
    if (parts.length === FILES_MAX) throw rolloutInvalid(path, `its history lies in more than ${FILES_MAX} files`);
    const file = await findRollout(base.fileId, path);
    if (file === null) throw rolloutInvalid(path, `its history begins in the rollout of ${base.fileId}, which is not there`);
    parts.unshift({ path: file, bytes: base.bytes });
    base = (await openPart(file)).base;
  }
  return { meta, parts };
}

async function openPart(path: string): Promise<RolloutMeta> {
  let lines = 0;
  for await (const line of readLines(path)) {
    const record = line === null ? null : parseRecord(line);
    const meta = record === null ? null : readMeta(record);
    if (typeof meta === 'string') throw rolloutInvalid(path, meta);
    if (meta !== null) return meta;
    lines++;
    if (lines === LINES_BEFORE_META_MAX) break;
  }
  throw rolloutInvalid(path, lines === 0 ? 'it is empty' : 'none of its first lines is a record of a rollout');
}

/** Resolves with the number of lines that are no records. */
async function readPart({ path, bytes }: Part, reader: RolloutReader): Promise<number> {
  let skipped = 0;
  for await (const line of readLines(path, bytes)) {
    const record = line === null ? null : parseRecord(line);
    if (record === null) skipped++;
    else reader.take(record);
  }
  return skipped;
}

function cutName(name: string | null): string | null {
  return name === null ? null : cutText(name, NAME_CHARS_MAX);
}
