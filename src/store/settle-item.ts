import type { ItemApprovalReview, UntimedItem } from '../protocol/generated/types.ts';

/**
 * Whether an unfinished item has nothing to show: it consists of text only, and the text is empty,
 * or it says that something is done.
 */
export function isBlank(item: UntimedItem): boolean {
  if (item.type === 'contextCompaction') return true;
  return (item.type === 'agentMessage' || item.type === 'plan') && item.text === '';
}

/**
 * Returns an unfinished item as it is shown once its writer is gone. An item with the status
 * `inProgress` becomes `failed`; any other item stays as it is, with the text that it has so far.
 */
export function settleItem(item: UntimedItem): UntimedItem {
  switch (item.type) {
    case 'commandExecution':
    case 'fileChange':
      return item.status === 'inProgress'
        ? {
            ...item,
            status: 'failed',
            ...(item.approvalReviews && { approvalReviews: settledReviews(item.approvalReviews) }),
          }
        : item;
    case 'mcpToolCall':
    case 'dynamicToolCall':
    case 'collabAgentToolCall':
      return item.status === 'inProgress' ? { ...item, status: 'failed' } : item;
    default:
      return item;
  }
}

/**
 * The reviews of an item that has ended. One that had not ended counts as aborted at this time.
 * Null: the time is not known.
 */
export function settledReviews(
  reviews: readonly ItemApprovalReview[],
  completedAtMs: number | null = null,
): ItemApprovalReview[] {
  return reviews.map((each) =>
    each.review.status === 'inProgress'
      ? { ...each, completedAtMs, review: { ...each.review, status: 'aborted' } }
      : each,
  );
}
