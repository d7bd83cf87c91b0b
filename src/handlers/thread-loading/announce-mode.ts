import { settingsAnnouncement } from '../../agent/settings/settings-change.ts';
import type { LoadedThread } from '../../agent/threads/loaded-thread.ts';
import type { Caller } from '../requested/method.ts';
import type { ThreadServices } from './thread-services.ts';

/** Shows the caller modes that the thread has kept: the client may have forgotten them. */
export function announceMode(
  { clients }: ThreadServices,
  { id, settings }: LoadedThread,
  caller: Caller,
): void {
  if (
    settings.collaborationMode.mode === 'default' &&
    (settings.multiAgentMode ?? 'explicitRequestOnly') === 'explicitRequestOnly'
  )
    return;
  const { method, params } = settingsAnnouncement(id, settings);
  clients.publish({ connection: caller.id }, method, params);
}
