import { Fields } from './fields.ts';

/** One line of a rollout. */
export interface RolloutRecord {
  type: string;
  payload: Fields;
  /** Unix milliseconds; null where the line does not say. */
  atMs: number | null;
}

/** Null for a line that is no record: not JSON, cut short, or something else. */
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

/** Unix milliseconds of an ISO time. */
export function timeOf(text: string | null): number | null {
  const ms = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}
