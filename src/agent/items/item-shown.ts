import type { Announcement } from '../../protocol/announcement.ts';
import type { UntimedItem } from '../../protocol/generated/types.ts';
import { timedItem } from '../../store/timed-item.ts';

interface Begun {
  turnId: string;
  item: UntimedItem;
  startedAtMs: number;
}

interface Completed extends Begun {
  completedAtMs: number;
}

/** The announcement that an item has begun. */
export function itemStarted(threadId: string, { turnId, item, startedAtMs }: Begun): Announcement {
  return {
    method: 'item/started',
    params: {
      threadId,
      turnId,
      item: timedItem({ item, startedAtMs, completedAtMs: null }),
      startedAtMs,
    },
  };
}

/** The announcement that an item has completed. */
export function itemCompleted(
  threadId: string,
  { turnId, item, startedAtMs, completedAtMs }: Completed,
): Announcement {
  return {
    method: 'item/completed',
    params: {
      threadId,
      turnId,
      item: timedItem({ item, startedAtMs, completedAtMs }),
      completedAtMs,
    },
  };
}

/** The announcements of an item that completes as it begins. */
export function itemShown(
  threadId: string,
  { turnId, item, atMs }: { turnId: string; item: UntimedItem; atMs: number },
): Announcement[] {
  const times = { startedAtMs: atMs, completedAtMs: atMs };
  return [
    itemStarted(threadId, { turnId, item, ...times }),
    itemCompleted(threadId, { turnId, item, ...times }),
  ];
}
