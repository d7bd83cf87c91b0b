import { stat } from 'node:fs/promises';
import type { Ids } from '../base/ids.ts';
import { isAbsent } from '../base/system-error-code.ts';
import { cutText } from '../base/text/cut-text.ts';
import { noRolloutFoundAt, rolloutInvalid } from '../protocol/errors/thread-errors.ts';
import type { ThreadTokenUsage } from '../protocol/generated/types.ts';
import { RpcError } from '../protocol/rpc-error.ts';
import type { LogEntry } from '../store/log-entry.ts';
import { NAME_CHARS_MAX } from '../store/thread-record.ts';
import { findRollout } from './find-rollout.ts';
import { readLines } from './read-lines.ts';
import { type RolloutMeta, readMeta } from './rollout-meta.ts';
import { type LastSettings, RolloutReader } from './rollout-reader.ts';
import { parseRecord } from './rollout-record.ts';
import { threadName } from './thread-name.ts';

/** The most files that a history may have, each of which continues another. */
const FILES_MAX = 64;
/** The most lines that may precede the first record. A file with more is not a rollout. */
const LINES_BEFORE_META_MAX = 100;

/** A thread that another server of this protocol has written to a file. */
export interface Rollout {
  meta: RolloutMeta;
  name: string | null;
  /** Null if the thread has no turn. */
  last: LastSettings | null;
  tokenUsage: { turnId: string; usage: ThreadTokenUsage } | null;
  entries: LogEntry[];
  /** When the last record was written, in Unix milliseconds. */
  updatedAtMs: number;
  /**
   * The number of lines that were skipped because they are damaged, incomplete or too long. The
   * other lines are read.
   */
  skippedLines: number;
}

export interface ReadRolloutOptions {
  ids: Ids;
  /**
   * Called with the length of what has been read so far, approximately in bytes, and with that of
   * all files of the history. What it throws ends the reading.
   */
  onRead?: (bytes: number, allBytes: number) => void;
}

/** A rollout file, or its first `bytes` bytes, with which the history of another file begins. */
interface Part {
  path: string;
  bytes: number | undefined;
}

/**
 * Reads a rollout: lines of JSON with `timestamp`, `type` and `payload`. The history of a forked or
 * reverted thread begins in another file, which is found and read too. Rejects with an RpcError
 * that names the file and the problem, if the file is missing, is not a rollout, or the beginning
 * of its history is missing. Lets other work run in between.
 */
export async function readRollout(
  path: string,
  { ids, onRead = () => {} }: ReadRolloutOptions,
): Promise<Rollout> {
  try {
    const { meta, parts } = await openParts(path);
    const reader = new RolloutReader(ids, meta.createdAtMs);
    const allBytes = await bytesOf(parts);
    let bytes = 0;
    const onLine = (line: string) => {
      bytes += line.length + 1;
      onRead(bytes, allBytes);
    };
    let skippedLines = 0;
    for (const part of parts) skippedLines += await readPart(part, reader, onLine);
    return {
      meta,
      name: cutName((await threadName(meta.id, path)) ?? reader.name),
      last: reader.last,
      tokenUsage: reader.tokenUsage,
      entries: await reader.log.entries(),
      updatedAtMs: reader.log.nowMs,
      skippedLines: skippedLines + reader.unreadable,
    };
  } catch (error) {
    if (error instanceof RpcError) throw error;
    if (isAbsent(error)) throw noRolloutFoundAt(path);
    throw rolloutInvalid(path, error instanceof Error ? error.message : String(error));
  }
}

/** The files of a thread's history, oldest first. */
async function openParts(path: string): Promise<{ meta: RolloutMeta; parts: Part[] }> {
  const meta = await openPart(path);
  const parts: Part[] = [{ path, bytes: undefined }];
  let { base } = meta;
  while (base !== null) {
    if (parts.length === FILES_MAX)
      throw rolloutInvalid(path, `its history has more than ${FILES_MAX} files`);
    const file = await findRollout(base.fileId, path);
    if (file === null)
      throw rolloutInvalid(
        path,
        `its history begins in the rollout of ${base.fileId}, which is missing`,
      );
    parts.unshift({ path: file, bytes: base.bytes });
    base = (await openPart(file)).base;
  }
  return { meta, parts };
}

async function bytesOf(parts: readonly Part[]): Promise<number> {
  let all = 0;
  for (const { path, bytes } of parts) all += bytes ?? (await stat(path)).size;
  return all;
}

async function openPart(path: string): Promise<RolloutMeta> {
  let lines = 0;
  for await (const line of readLines(path)) {
    const record = line === null ? null : await parseRecord(line);
    const meta = record === null ? null : readMeta(record);
    if (typeof meta === 'string') throw rolloutInvalid(path, meta);
    if (meta !== null) return meta;
    lines++;
    if (lines === LINES_BEFORE_META_MAX) break;
  }
  throw rolloutInvalid(
    path,
    lines === 0 ? 'it is empty' : 'none of its first lines is a record of a rollout',
  );
}

/** Resolves with the number of lines that are not records. */
async function readPart(
  { path, bytes }: Part,
  reader: RolloutReader,
  onLine: (line: string) => void,
): Promise<number> {
  let skipped = 0;
  for await (const line of readLines(path, bytes)) {
    const record = line === null ? null : await parseRecord(line);
    if (record === null) skipped++;
    else reader.take(record);
    onLine(line ?? '');
  }
  return skipped;
}

function cutName(name: string | null): string | null {
  return name === null ? null : cutText(name, NAME_CHARS_MAX);
}
