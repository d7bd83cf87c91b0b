import { Fields } from './fields.ts';

/** One line of a rollout. */
export interface RolloutRecord {
  type: string;
  payload: Fields;
  /** Unix milliseconds; null if the line has no time. */
  atMs: number | null;
}

/** Parses a line. Returns null if it is not a record. */
export function parseRecord(line: string): RolloutRecord | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  const record = new Fields(value);
  const type = record.text('type');
  return type === null ? null : { type, payload: record.object('payload'), atMs: timeOf(record.text('timestamp')) };
}

/** Converts an ISO time to Unix milliseconds. Returns null if it is none. */
export function timeOf(text: string | null): number | null {
  const ms = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}
