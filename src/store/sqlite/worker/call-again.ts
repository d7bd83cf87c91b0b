import { StoreError } from '../../store-error.ts';
import type { ThreadRecord } from '../../thread-record.ts';
import type { SqliteStore } from '../create-sqlite-store.ts';
import type { StoreCall, StoreMethod } from './store-call.ts';

type Again = {
  [Method in StoreMethod | 'createFromStaged']?: (
    store: SqliteStore,
    ...args: Parameters<SqliteStore[Method]>
  ) => Promise<unknown>;
};

/** The calls that would fail, or do something twice, if they were simply made again. */
const AGAIN: Again = {
  createThread: async (store, record, entries) =>
    (await begun(store, record)) ?? store.createThread(record, entries),
  createFromStaged: async (store, record, staged) =>
    (await begun(store, record)) ?? store.createFromStaged(record, staged),
  forkThread: async (store, sourceId, point, record) =>
    (await begun(store, record)) ?? store.forkThread(sourceId, point, record),
  archiveThread: (store, threadId, atMs) =>
    unlessDone(store, threadId, {
      change: () => store.archiveThread(threadId, atMs),
      isDone: (record) => record?.archivedAtMs === atMs,
    }),
  unarchiveThread: (store, threadId, atMs) =>
    unlessDone(store, threadId, {
      change: () => store.unarchiveThread(threadId, atMs),
      isDone: (record) => record?.archivedAtMs === null && record.updatedAtMs === atMs,
    }),
  revertThread: (store, threadId, turnId, patch) =>
    unlessDone(store, threadId, {
      change: () => store.revertThread(threadId, turnId, patch),
      isDone: (record) => record !== null && record.updatedAtMs === patch.updatedAtMs,
    }),
  deleteThread: (store, threadId) =>
    unlessDone(store, threadId, {
      change: () => store.deleteThread(threadId),
      isDone: (record) => record === null,
    }),
};

/**
 * Makes a call that an earlier worker of the store may have made before it died. The outcome is
 * that of one call.
 */
export function callAgain(
  store: SqliteStore,
  { method, args }: Pick<StoreCall, 'method' | 'args'>,
): Promise<unknown> | undefined {
  const again = (
    AGAIN as Record<string, (store: SqliteStore, ...args: readonly unknown[]) => Promise<unknown>>
  )[method];
  return again?.(store, ...args);
}

/**
 * The writer of a thread that is stored already; its id is new, so this call has stored it. Null:
 * it is not stored.
 */
async function begun(store: SqliteStore, { id }: ThreadRecord) {
  return (await store.getThread(id)) === null ? null : store.resumeWriter(id, [null]);
}

/** Makes a change. If it is refused because it has been made, returns the record. */
async function unlessDone(
  store: SqliteStore,
  threadId: string,
  {
    change,
    isDone,
  }: { change: () => Promise<unknown>; isDone: (record: ThreadRecord | null) => boolean },
): Promise<unknown> {
  try {
    return await change();
  } catch (error) {
    const record = error instanceof StoreError ? await store.getThread(threadId) : null;
    if (!(error instanceof StoreError) || !isDone(record)) throw error;
    return record;
  }
}
