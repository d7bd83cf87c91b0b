import { isObject } from '../../base/json-value.ts';
import type { ItemApprovalReview, ThreadItem } from '../../protocol/generated/types.ts';
import type { ThreadStore } from '../../store/thread-store.ts';
import type { LoggedReview, ReviewLog } from './review-log.ts';

/** How many items are read to find the last review. */
const ITEMS_MAX = 200;

/** The review that a client names by the params of its notification. Null: the thread has no such review. */
export async function namedReview(
  event: unknown,
  { threadId, log, store }: { threadId: string; log: ReviewLog; store: ThreadStore },
): Promise<ItemApprovalReview | null> {
  if (!isObject(event)) return null;
  const reviewId = event.reviewId ?? event.review_id ?? event.id;
  if (typeof reviewId !== 'string') return null;
  const logged = log.find(reviewId);
  if (logged !== null) return logged.review;
  const turnId = event.turnId ?? event.turn_id;
  const itemId = event.targetItemId ?? event.target_item_id;
  if (typeof turnId !== 'string' || typeof itemId !== 'string') return null;
  const { items } = await store.readItems(threadId, { turnId, itemIds: [itemId] });
  return items.flatMap(({ item }) => reviewsOf(item)).find((review) => review.reviewId === reviewId) ?? null;
}

/** The last review that is stored with one of the thread's last items; null: none is. */
export async function lastReview(threadId: string, store: ThreadStore): Promise<LoggedReview | null> {
  const { data } = await store.listItems(threadId, { direction: 'desc', limit: ITEMS_MAX });
  const found = data.map(({ item }) => ({ item, review: reviewsOf(item).at(-1) })).find(({ review }) => review !== undefined);
  return found?.review === undefined ? null : { targetItemId: found.item.id, review: found.review };
}

function reviewsOf(item: ThreadItem): ItemApprovalReview[] {
  return item.type === 'commandExecution' || item.type === 'fileChange' ? (item.approvalReviews ?? []) : [];
}
