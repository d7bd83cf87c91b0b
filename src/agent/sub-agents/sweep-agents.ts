import type { Log } from '../../base/log.ts';
import type { AgentRecord, ThreadStore } from '../../store/thread-store.ts';
import { parentOf } from './parent-of.ts';

interface SweepDeps {
  store: Pick<ThreadStore, 'listAgents' | 'deleteThread'>;
  log: Log;
  isLoaded(threadId: string): boolean;
}

/** Deletes agents of a thread that a killed server has left without a turn. Call it when the thread has been loaded. Never rejects. */
export async function sweepAgents(ownerId: string, { store, log, isLoaded }: SweepDeps): Promise<void> {
  const isLeft = ({ id, listed, source }: AgentRecord) => !listed && parentOf({ source }) === ownerId && !isLoaded(id);
  try {
    const left = (await store.listAgents(ownerId)).filter(isLeft);
    for (const { id } of left) await store.deleteThread(id);
  } catch (error) {
    log.info({ err: error, threadId: ownerId }, 'agents without a turn could not be deleted');
  }
}
