import type { ServerNotifications } from './generated/types.ts';

/** A notification with its params, as the generated map pairs them. */
export type Announcement = {
  [Method in keyof ServerNotifications]: { method: Method; params: ServerNotifications[Method] };
}[keyof ServerNotifications];
