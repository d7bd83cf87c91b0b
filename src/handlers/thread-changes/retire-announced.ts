import type { RetireOptions } from '../../agent/lineage/retire-tree.ts';
import { inSlices } from '../../base/in-slices.ts';
import type { RequestContext } from '../requested/method.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';

/** The work of an announcement to all clients, in the units of `EventLoopYield`. */
const ANNOUNCEMENT_UNITS = 50;

type GoneMethod = 'thread/archived' | 'thread/deleted';

/**
 * Retires a thread and agents below it, and announces those that are gone, also if one of them
 * could not be retired.
 */
export async function retireAnnounced(
  deps: ThreadServices,
  {
    threadId,
    method,
    ...options
  }: { threadId: string; method: GoneMethod } & Omit<RetireOptions, 'retired'>,
  { after }: Pick<RequestContext, 'after'>,
): Promise<void> {
  const gone: Parameters<RetireOptions['retired']>[0][] = [];
  const announce = async () => {
    for await (const each of inSlices(gone, ANNOUNCEMENT_UNITS))
      announceThreadGone(deps, method, each);
  };
  try {
    await deps.threads.agents.retire(threadId, {
      ...options,
      retired: (thread) => gone.push(thread),
    });
  } catch (error) {
    await announce();
    throw error;
  }
  after(announce);
}

/**
 * Announces to everyone that a thread is archived or deleted. If it was loaded, its followers first
 * get the status `notLoaded`.
 */
function announceThreadGone(
  { clients, followers }: ThreadServices,
  method: GoneMethod,
  { threadId, wasLoaded }: { threadId: string; wasLoaded: boolean },
): void {
  if (wasLoaded)
    clients.publish({ threadId }, 'thread/status/changed', {
      threadId,
      status: { type: 'notLoaded' },
    });
  followers.unsubscribeAll(threadId);
  clients.publish('everyone', method, { threadId });
}
