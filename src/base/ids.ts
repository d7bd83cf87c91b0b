import { v7 } from 'uuid';

/** Makes ids. Tests give their own, so that ids can be known. */
export interface Ids {
  /** A UUIDv7: later ids sort after earlier ones, also within a millisecond. */
  next(): string;
}

export const systemIds: Ids = { next: () => v7() };

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text has the form of a thread id. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
