import type { ThreadPatch, ThreadRecord } from '../../store/thread-record.ts';
import type { ForkPoint, ThreadStore } from '../../store/thread-store.ts';
import { textPreview } from '../prompt/thread-preview.ts';
import { costAt } from './cost-at.ts';

/**
 * Whether this point is before the first turn, so that a history that is cut there has no turns.
 */
export async function isBeforeAll(
  store: ThreadStore,
  threadId: string,
  point: ForkPoint,
): Promise<boolean> {
  if (point === null || 'afterTurnId' in point) return false;
  const { data } = await store.listTurns(threadId, {
    direction: 'asc',
    limit: 1,
    view: 'notLoaded',
  });
  return data[0]?.id === point.beforeTurnId;
}

/** Rejects with `turn_not_found` if the thread has no such turn. */
async function checkTurn(store: ThreadStore, threadId: string, turnId: string): Promise<void> {
  await store.listItems(threadId, { turnId, direction: 'asc', limit: 1 });
}

/**
 * The change of a thread's record when this turn and all later ones are removed. Rejects with
 * `turn_not_found` if it has no such turn.
 */
export async function revertingPatch(
  store: ThreadStore,
  { id: threadId, goal }: Pick<ThreadRecord, 'id' | 'goal'>,
  beforeTurnId: string,
): Promise<ThreadPatch> {
  await checkTurn(store, threadId, beforeTurnId);
  // The goal goes on, and gives the thread its preview as it does before any turn.
  const preview = textPreview(goal?.objective.trim() ?? '');
  const asNew: ThreadPatch = (await isBeforeAll(store, threadId, { beforeTurnId }))
    ? { preview, previewIsCommand: false }
    : {};
  return { ...asNew, told: null, tokenUsage: await costAt(store, threadId, { beforeTurnId }) };
}
