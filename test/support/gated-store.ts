import type { LogEntry } from '../../src/store/log-entry.ts';
import type { ThreadPatch } from '../../src/store/thread-record.ts';
import type { ThreadStore, ThreadWriter } from '../../src/store/thread-store.ts';

type Append = Parameters<ThreadWriter['append']>;
type BeforeWrite = (what: {
  entries: LogEntry[];
  durable: boolean;
  patch: ThreadPatch | undefined;
  count: number;
}) => Promise<void> | void;

/**
 * A store that calls back before each append and each update of a thread, and waits or fails as the
 * callback does. `count` numbers the writes from 1.
 */
export function gatedStore(store: ThreadStore, beforeWrite: BeforeWrite): ThreadStore {
  let count = 0;
  const write = async <T>(
    what: Omit<Parameters<BeforeWrite>[0], 'count'>,
    work: () => Promise<T>,
  ): Promise<T> => {
    count++;
    await beforeWrite({ ...what, count });
    return work();
  };
  const writer = (inner: ThreadWriter): ThreadWriter => ({
    threadId: inner.threadId,
    append: (...args: Append) =>
      write({ entries: args[0], durable: args[1]?.durable ?? false, patch: args[1]?.patch }, () =>
        inner.append(...args),
      ),
    close: () => inner.close(),
  });
  return {
    createThread: async (...args) => writer(await store.createThread(...args)),
    forkThread: async (sourceId, point, record) =>
      writer(await store.forkThread(sourceId, point, record)),
    openWriter: async (threadId) => writer(await store.openWriter(threadId)),
    getThread: (threadId) => store.getThread(threadId),
    getMetadata: (threadId) => store.getMetadata(threadId),
    findThreadByPath: (path) => store.findThreadByPath(path),
    updateThread: (threadId, change) =>
      write({ entries: [], durable: false, patch: undefined }, () =>
        store.updateThread(threadId, change),
      ),
    archiveThread: (threadId, atMs) => store.archiveThread(threadId, atMs),
    archiveThreads: (threadIds, atMs) => store.archiveThreads(threadIds, atMs),
    unarchiveThread: (threadId, atMs) => store.unarchiveThread(threadId, atMs),
    revertThread: (threadId, beforeTurnId, patch) =>
      store.revertThread(threadId, beforeTurnId, patch),
    deleteThread: (threadId) => store.deleteThread(threadId),
    listThreads: (query) => store.listThreads(query),
    listAgents: (threadId) => store.listAgents(threadId),
    agentIds: (threadId) => store.agentIds(threadId),
    tokensBelow: (threadId, exceptIds) => store.tokensBelow(threadId, exceptIds),
    leftAgents: (threadId) => store.leftAgents(threadId),
    readQueued: (threadId, ids) => store.readQueued(threadId, ids),
    listTurns: (threadId, query) => store.listTurns(threadId, query),
    listItems: (threadId, query) => store.listItems(threadId, query),
    readItems: (threadId, wanted) => store.readItems(threadId, wanted),
    measureItems: (threadId, range) => store.measureItems(threadId, range),
    readModelEntries: (threadId, query) => store.readModelEntries(threadId, query),
    close: () => store.close(),
  };
}
