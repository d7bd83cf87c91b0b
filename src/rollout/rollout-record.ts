import { parsedJson } from '../base/json-value.ts';
import { parseLongJson } from '../base/parse-long-json.ts';
import { Fields } from './fields.ts';

/** One line of a rollout. */
export interface RolloutRecord {
  type: string;
  payload: Fields;
  /** Unix milliseconds; null if the line has no time. */
  atMs: number | null;
}

/** A line that is longer, in characters, takes some milliseconds to parse. */
const SHORT_CHARS_MAX = 256 * 1024;

/**
 * Parses a line. Resolves with null if it is not a record. Lets other work run while it parses a
 * long line.
 */
export async function parseRecord(line: string): Promise<RolloutRecord | null> {
  const record = await parseRolloutLine(line);
  if (record === null) return null;
  const type = record.text('type');
  return type === null
    ? null
    : { type, payload: record.object('payload'), atMs: timeOf(record.text('timestamp')) };
}

/** Parses a line of JSON as `parseRecord`. Resolves with null if it is not JSON. */
export async function parseRolloutLine(line: string): Promise<Fields | null> {
  const value = line.length > SHORT_CHARS_MAX ? await parseLongJson(line) : parsedJson(line);
  return value === undefined ? null : new Fields(value);
}

/** Converts an ISO time to Unix milliseconds. Returns null if it is none. */
export function timeOf(text: string | null): number | null {
  const ms = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}
