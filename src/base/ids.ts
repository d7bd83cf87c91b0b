import { v7 } from 'uuid';

/** Makes ids. Tests have generators of their own, so that ids are known. */
export interface Ids {
  /** A UUIDv7. Later ids sort after earlier ones, even within a millisecond. */
  next(): string;
}

export const systemIds: Ids = { next: () => v7() };

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a string has the form of a thread id. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
