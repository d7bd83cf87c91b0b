import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { FileRefusedError } from '../../base/files/file-refused-error.ts';
import type { Ids } from '../../base/ids.ts';
import { inSlices, slicesOf } from '../../base/in-slices.ts';
import { LineSplitter } from '../../base/text/line-splitter.ts';
import type { LogEntry } from '../../store/log-entry.ts';
import { parseRolloutLine } from '../rollout-record.ts';
import { type SessionFacts, SessionReader } from './session-reader.ts';

/** A session of Claude Code, as the beginning of a thread. */
export interface ForeignSession extends SessionFacts {
  entries: LogEntry[];
  /** The time of the last message, in Unix milliseconds; null: not told. */
  updatedAtMs: number | null;
  /** The number of lines that were skipped because they are damaged or too long. */
  skippedLines: number;
}

/** The longest line. A picture may be in one. */
const ROLLOUT_LINE_BYTES_MAX = 8 * 1024 * 1024;
/** The most messages of a session. */
const MESSAGES_MAX = 50_000;
const CHUNK_BYTES = 64 * 1024;
/** So many characters of a line count as one unit of work. */
const CHARS_A_UNIT = 200;
/** Each line with a title has one of these types. */
const TITLE = /"(?:custom-title|ai-title)"/;

/**
 * Reads the file of a session: lines of JSON. Other programs may write it, so damaged lines are
 * skipped. `nowMs`: Unix milliseconds. Rejects with a FileRefusedError if it has too many messages.
 * Lets other work run in between.
 */
export async function readSession(bytes: Buffer, ids: Ids, nowMs: number): Promise<ForeignSession> {
  const reader = new SessionReader(ids, nowMs);
  const skippedLines = await readLines(bytes, reader, () => true);
  return {
    ...reader.facts,
    entries: await reader.entries(),
    updatedAtMs: reader.updatedAtMs,
    skippedLines,
  };
}

/** The same facts, without the messages. It parses only the lines that it needs. */
export async function readSessionFacts(
  bytes: Buffer,
  ids: Ids,
  nowMs: number,
): Promise<SessionFacts> {
  const reader = new SessionReader(ids, nowMs);
  await readLines(bytes, reader, (line) => reader.facts.firstText === null || TITLE.test(line));
  return reader.facts;
}

async function readLines(
  bytes: Buffer,
  reader: SessionReader,
  isNeeded: (line: string) => boolean,
): Promise<number> {
  const breaks = new EventLoopYield();
  let lines: string[] = [];
  let skipped = 0;
  const splitter = new LineSplitter(
    (line) => lines.push(line),
    () => {
      skipped++;
    },
    ROLLOUT_LINE_BYTES_MAX,
  );
  const take = async () => {
    const read = lines;
    lines = [];
    for await (const line of inSlices(read, (line) => 1 + line.length / CHARS_A_UNIT, breaks)) {
      if (line.trim() === '' || !isNeeded(line)) continue;
      const record = await parseRolloutLine(line);
      if (record === null || !reader.take(record)) skipped++;
      if (reader.messages > MESSAGES_MAX)
        throw new FileRefusedError(`it has more than ${MESSAGES_MAX} messages`);
    }
  };
  const units = CHUNK_BYTES / CHARS_A_UNIT;
  for await (const chunk of inSlices(slicesOf(bytes, CHUNK_BYTES), units, breaks)) {
    splitter.push(chunk);
    await take();
  }
  splitter.end();
  await take();
  return skipped;
}
