import { isObject } from '../../base/json-value.ts';
import type { ItemApprovalReview, UntimedItem } from '../../protocol/generated/types.ts';
import { StoreError } from '../../store/store-error.ts';
import type { ThreadStore } from '../../store/thread-store.ts';
import type { LoggedReview, ReviewLog } from './review-log.ts';

/** How many of a thread's last items are read to find a review. */
export const ITEMS_MAX = 2_000;
const PAGE_ITEMS_MAX = 200;

/**
 * The review that a client names by the params of its notification. Null: the thread has no such
 * review.
 */
export async function namedReview(
  event: unknown,
  { threadId, log, store }: { threadId: string; log: ReviewLog; store: ThreadStore },
): Promise<LoggedReview | null> {
  if (!isObject(event)) return null;
  const reviewId = event.reviewId ?? event.review_id ?? event.id;
  if (typeof reviewId !== 'string') return null;
  const logged = log.find(reviewId);
  if (logged !== null) return logged;
  const itemId = event.targetItemId ?? event.target_item_id;
  const item = typeof itemId === 'string' ? await storedItem(itemId, { threadId, store }) : null;
  return reviewsOf(item).find(({ review }) => review.reviewId === reviewId) ?? null;
}

/**
 * The last review among those that are stored with the thread's last items. Null: none of the last
 * ITEMS_MAX items has a review that has ended.
 */
export async function lastReview(
  threadId: string,
  store: ThreadStore,
): Promise<LoggedReview | null> {
  let cursor: string | null = null;
  for (let read = 0; read < ITEMS_MAX; ) {
    const page = await store.listItems(threadId, {
      direction: 'desc',
      limit: PAGE_ITEMS_MAX,
      cursor,
    });
    const ended = page.data
      .flatMap(({ item }) => reviewsOf(item))
      .filter(({ review }) => review.review.status !== 'inProgress');
    const [first, ...others] = ended;
    if (first !== undefined)
      return others.reduce((last, each) => (endOf(each) > endOf(last) ? each : last), first);
    if (page.nextCursor === null) return null;
    cursor = page.nextCursor;
    read += page.data.length;
  }
  return null;
}

/**
 * The item with this id, in whatever turn it began: input for a command is reviewed in later turns,
 * too.
 */
async function storedItem(
  itemId: string,
  { threadId, store }: { threadId: string; store: ThreadStore },
): Promise<UntimedItem | null> {
  try {
    const { data } = await store.listItems(threadId, {
      fromItemId: itemId,
      direction: 'asc',
      limit: 1,
    });
    return data[0]?.item ?? null;
  } catch (error) {
    if (error instanceof StoreError && error.code === 'item_not_found') return null;
    throw error;
  }
}

function reviewsOf(item: UntimedItem | null): LoggedReview[] {
  if (item?.type !== 'commandExecution' && item?.type !== 'fileChange') return [];
  return (item.approvalReviews ?? []).map((review) => ({
    targetItemId: item.id,
    planned: null,
    review,
  }));
}

/** When a review ended. A review that a kill cut off has only a start. */
function endOf({ review }: { review: ItemApprovalReview }): number {
  return review.completedAtMs ?? review.startedAtMs;
}
