import { spawnSource } from '../../store/spawn-source.ts';
import { StoreError } from '../../store/store-error.ts';
import type { AgentRecord } from '../../store/thread-record.ts';
import type { ThreadStore } from '../../store/thread-store.ts';

/** How many threads are retired by one change of the store, so that it takes a few milliseconds. */
const TOGETHER_MAX = 250;

/** A thread that was retired. */
export interface Retired {
  threadId: string;
  wasLoaded: boolean;
}

interface RetireDeps {
  store: Pick<ThreadStore, 'listAgents' | 'agentIds'>;
  /**
   * Ends a thread by a change after which it cannot be loaded. Resolves with whether it was loaded.
   */
  retire(threadId: string, change: () => Promise<unknown>): Promise<boolean>;
  /**
   * Makes the change if none of the threads is loaded, and none can be loaded meanwhile. Resolves
   * with whether it was made.
   */
  retireUnloaded(threadIds: readonly string[], change: () => Promise<unknown>): Promise<boolean>;
}

export interface RetireOptions {
  change(threadId: string): Promise<unknown>;
  /**
   * Makes the change of several threads that are not loaded, all of them or none. Absent: they are
   * changed one by one.
   */
  changeAll?(threadIds: readonly string[]): Promise<unknown>;
  /** Which agents below the thread are retired with it. */
  takes(agent: AgentRecord): boolean;
  /** Called as each thread is retired. If a later one fails, those before it stay so. */
  retired(thread: Retired): void;
}

/**
 * Retires a thread and agents below it, the deepest first: a failure leaves no agent without the
 * thread that started it. Rejects with the error of the first failure.
 */
export async function retireTree(
  threadId: string,
  { change, changeAll, takes, retired }: RetireOptions,
  { store, retire, retireUnloaded }: RetireDeps,
): Promise<void> {
  const done = new Set<string>();
  const end = async (id: string) => {
    const wasLoaded = await retire(id, () => change(id));
    done.add(id);
    retired({ threadId: id, wasLoaded });
  };
  /**
   * Ends threads together. If that is not possible, ends them one by one, so that the failure of
   * one is its own.
   */
  const endAll = async (ids: string[]) => {
    const together =
      changeAll && (await retireUnloaded(ids, () => changeAll(ids)).catch(noneIfStoreFailed));
    for (const id of ids) {
      if (together !== true) await end(id);
      else {
        done.add(id);
        retired({ threadId: id, wasLoaded: false });
      }
    }
  };
  // Read again, because a thread may have started others while those below it were retired.
  for (const seen = new Set<string>(); ; ) {
    const isNew = (await store.agentIds(threadId)).some((id) => !seen.has(id));
    const agents = isNew ? await store.listAgents(threadId) : [];
    for (const { id } of agents) seen.add(id);
    const below = agents.filter((agent) => !done.has(agent.id) && takes(agent));
    const ids = below
      .reverse()
      .sort((a, b) => depthOf(b) - depthOf(a))
      .map(({ id }) => id);
    for (let first = 0; first < ids.length; first += TOGETHER_MAX)
      await endAll(ids.slice(first, first + TOGETHER_MAX));
    if (below.length > 0) continue;
    if (done.has(threadId)) return;
    await end(threadId);
  }
}

function noneIfStoreFailed(error: unknown): false {
  if (error instanceof StoreError) return false;
  throw error;
}

function depthOf({ source }: AgentRecord): number {
  return spawnSource(source)?.depth ?? 0;
}
