import { spawnSource } from '../../store/spawn-source.ts';
import type { AgentRecord, ThreadStore } from '../../store/thread-store.ts';

/** A thread that was retired. */
export interface Retired {
  threadId: string;
  wasLoaded: boolean;
}

interface RetireDeps {
  store: Pick<ThreadStore, 'listAgents'>;
  /** Ends a thread by a change after which it cannot be loaded. Resolves with whether it was loaded. */
  retire(threadId: string, change: () => Promise<unknown>): Promise<boolean>;
}

export interface RetireOptions {
  change(threadId: string): Promise<unknown>;
  /** Which agents below the thread are retired with it. */
  takes(agent: AgentRecord): boolean;
  /** Called as each thread is retired. If a later one fails, those before it stay so. */
  retired(thread: Retired): void;
}

/**
 * Retires a thread and agents below it, the deepest first: a failure leaves no agent without the thread that started it. Rejects with the
 * error of the first failure.
 */
export async function retireTree(
  threadId: string,
  { change, takes, retired }: RetireOptions,
  { store, retire }: RetireDeps,
): Promise<void> {
  const done = new Set<string>();
  const end = async (id: string) => {
    const wasLoaded = await retire(id, () => change(id));
    done.add(id);
    retired({ threadId: id, wasLoaded });
  };
  // Read again, because a thread may have started others while those below it were retired.
  for (;;) {
    const below = (await store.listAgents(threadId)).filter((agent) => !done.has(agent.id) && takes(agent));
    for (const { id } of below.reverse().sort((a, b) => depthOf(b) - depthOf(a))) await end(id);
    if (below.length > 0) continue;
    if (done.has(threadId)) return;
    await end(threadId);
  }
}

function depthOf({ source }: AgentRecord): number {
  return spawnSource(source)?.depth ?? 0;
}
