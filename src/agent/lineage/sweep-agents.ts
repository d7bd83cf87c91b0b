import type { Log } from '../../base/log.ts';
import type { ThreadStore } from '../../store/thread-store.ts';

interface SweepDeps {
  store: Pick<ThreadStore, 'deleteThread'>;
  log: Log;
  isLoaded(threadId: string): boolean;
}

/**
 * Deletes agents of a thread that a killed server has left without a turn. Call it when the thread
 * has been loaded. Never rejects.
 */
export async function sweepAgents(
  ownerId: string,
  unlistedIds: readonly string[],
  { store, log, isLoaded }: SweepDeps,
): Promise<void> {
  try {
    for (const id of unlistedIds) if (!isLoaded(id)) await store.deleteThread(id);
  } catch (error) {
    log.info({ err: error, threadId: ownerId }, 'agents without a turn could not be deleted');
  }
}
