import type { LoadedThread } from '../../agent/threads/loaded-thread.ts';
import type { Caller } from '../requested/method.ts';
import type { ThreadServices } from './thread-services.ts';

/**
 * If a thread has tools of clients, offers the caller, which follows it, as the one that runs them.
 */
export function offerTools(
  { followers }: ThreadServices,
  { id, record }: LoadedThread,
  caller: Caller,
): void {
  if (record.clientTools === null || !caller.experimentalApi) return;
  followers.provideTools(id, caller.id, {
    isDeclarer: caller.client?.clientInfo.name === record.originator,
  });
}
