import type { LogEntry, StoredItem } from './log-entry.ts';

/** An entry of a history as it is read: an appended one, or an item that has not completed yet. */
export type HistoryEntry = LogEntry | ({ kind: 'item' } & StoredItem);

/** The entry that ends an item that ran on after its turn. */
export type LateItem = Extract<LogEntry, { kind: 'lateItem' }>;
