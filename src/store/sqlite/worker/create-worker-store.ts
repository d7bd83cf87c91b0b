import { type AgentPage, agentsBelow } from '../../agents-below.ts';
import type { ThreadStore } from '../../thread-store.ts';
import { createFromStaged, isShort } from './create-from-staged.ts';
import type { RemoteStoreOptions } from './remote-store.ts';
import { RemoteStore } from './remote-store.ts';
import { RemoteWriter } from './remote-writer.ts';
import { type OpenedWriter, STORE_METHODS, type StoreMethod } from './store-call.ts';

export interface WorkerStore extends ThreadStore {
  /**
   * Starts the worker, and opens the database if it exists, so that the next call need not wait for
   * that. Never throws.
   */
  warmUp(): void;
}

/**
 * Stores threads in one SQLite file, as `createSqliteStore` does, in a worker: no lock and no slow
 * disk blocks the main thread. The worker starts at the first use. `close` ends it.
 */
export function createWorkerStore(options: RemoteStoreOptions): WorkerStore {
  const store = new RemoteStore(options);
  const call = async (method: StoreMethod, args: readonly unknown[]): Promise<unknown> => {
    const value = await store.call({ method, args });
    return STORE_METHODS[method] === 'writer'
      ? new RemoteWriter(store, value as OpenedWriter)
      : value;
  };
  const createThread: ThreadStore['createThread'] = async (
    record,
    entries = [],
    onStored = () => {},
  ) => {
    if (record.ephemeral || isShort(entries))
      return call('createThread', [record, entries]) as Promise<RemoteWriter>;
    const opened = await createFromStaged(
      store,
      { record, entries },
      { texts: store.longTexts, onStored },
    );
    return new RemoteWriter(store, opened as OpenedWriter);
  };
  const names = Object.keys(STORE_METHODS) as StoreMethod[];
  const methods = names.map(
    (name) => [name, (...args: readonly unknown[]) => call(name, args)] as const,
  );
  return {
    ...(Object.fromEntries(methods) as unknown as ThreadStore),
    createThread,
    listAgents: (threadId) =>
      agentsBelow(
        threadId,
        (...args) => store.call({ method: 'readAgents', args }) as Promise<AgentPage>,
      ),
    warmUp: () => void store.call({ method: 'warmUp', args: [] }).catch(() => {}),
    close: () => store.close(),
  };
}
