import type { ResponseItem } from '../protocol/generated/types.ts';
import { agentCopyMessage, cutOffMessage, reviewCutOffMessage } from './cut-off-message.ts';
import type { LateItem } from './history-entry.ts';
import type { LogEntry, StoredItem } from './log-entry.ts';
import { isBlank, settleItem } from './settle-item.ts';

/** A turn that has begun and not ended. */
export interface OpenTurn {
  turnId: string;
  startedAtMs: number;
  isReview?: true;
}

/** An item that has begun and not completed, and when it was last saved. */
export interface PartialItem {
  savedAtMs: number;
  item: StoredItem;
}

/**
 * The entries that end items of earlier turns that still ran when their writer died, each as it was
 * last saved.
 */
export function lateEntries(turn: OpenTurn | null, partials: PartialItem[]): LateItem[] {
  const others = partials.filter(({ item }) => item.turnId !== turn?.turnId);
  return others.map(({ item: { turnId, item, startedAtMs }, savedAtMs }) => ({
    kind: 'lateItem',
    turnId,
    item: settleItem(item),
    startedAtMs,
    completedAtMs: savedAtMs,
  }));
}

/**
 * How a turn was cut off: its process died, or its thread was copied while it ran, by a fork or for
 * an agent that the turn starts.
 */
export type Cut = 'killed' | 'forked' | 'agent';

const TOLD: Record<Cut, () => ResponseItem> = {
  killed: () =>
    cutOffMessage(
      'The previous turn was cut off, because the server ended without closing the thread. The user did not interrupt it.',
    ),
  forked: () =>
    cutOffMessage(
      'This thread is a copy that was made while the previous turn ran in the original thread. Here, that turn was cut off.',
    ),
  agent: agentCopyMessage,
};

const COPIED_REVIEW =
  'this thread is a copy that was made while the review ran in the original thread';
const REVIEW_WHY: Record<Cut, string> = {
  killed: 'the server ended without closing the thread',
  forked: COPIED_REVIEW,
  agent: COPIED_REVIEW,
};

/**
 * The entries that end a turn that was cut off: its unfinished items as they were last saved, a
 * message for the model, and the turn's end. The time of the cut is unknown, so the turn ends at
 * the last known write: `lastWriteMs`, or the last save of an item.
 */
export function settlingEntries(
  turn: OpenTurn,
  partials: PartialItem[],
  { lastWriteMs, cut }: { lastWriteMs: number; cut: Cut },
): LogEntry[] {
  const own = partials.filter(({ item }) => item.turnId === turn.turnId && !isBlank(item.item));
  const endedAtMs = Math.max(
    turn.startedAtMs,
    lastWriteMs,
    ...own.map(({ savedAtMs }) => savedAtMs),
  );
  const items = own.map(
    ({ item, savedAtMs }): LogEntry => ({
      kind: 'item',
      turnId: turn.turnId,
      item: settleItem(item.item),
      startedAtMs: item.startedAtMs,
      completedAtMs: savedAtMs,
      partial: true,
    }),
  );
  const durationMs = endedAtMs - turn.startedAtMs;
  const item = turn.isReview ? reviewCutOffMessage(REVIEW_WHY[cut]) : TOLD[cut]();
  const told: LogEntry = { kind: 'model', turnId: turn.turnId, item, author: 'server' };
  return [
    ...items,
    ...(turn.isReview ? [leftReviewMode(turn.turnId, endedAtMs)] : []),
    told,
    {
      kind: 'turnEnded',
      turnId: turn.turnId,
      status: 'interrupted',
      error: null,
      completedAtMs: endedAtMs,
      durationMs,
    },
  ];
}

/**
 * The entry by which a review that was cut off leaves review mode. Its id is the same whenever the
 * turn is read before it is ended.
 */
function leftReviewMode(turnId: string, atMs: number): LogEntry {
  const item = {
    type: 'exitedReviewMode' as const,
    id: `exited-${turnId}`,
    review: 'The review was cut off before it was complete.',
  };
  return { kind: 'item', turnId, item, startedAtMs: atMs, completedAtMs: atMs };
}
