import type { ItemApprovalReview, ThreadItem } from '../protocol/generated/types.ts';

/** Whether an unfinished item has nothing to show yet: it consists of text only, and the text is empty. */
export function isBlank(item: ThreadItem): boolean {
  return (item.type === 'agentMessage' || item.type === 'plan') && item.text === '';
}

/**
 * Returns an unfinished item as it is shown once its writer is gone. An item with the status `inProgress` becomes `failed`;
 * any other item stays as it is, with the text that it has so far.
 */
export function settleItem(item: ThreadItem): ThreadItem {
  switch (item.type) {
    case 'commandExecution':
    case 'fileChange':
      return item.status === 'inProgress' ? { ...item, status: 'failed', ...settledReviews(item) } : item;
    case 'mcpToolCall':
    case 'dynamicToolCall':
    case 'collabAgentToolCall':
      return item.status === 'inProgress' ? { ...item, status: 'failed' } : item;
    default:
      return item;
  }
}

/** A review that had not ended counts as aborted. */
function settledReviews({ approvalReviews }: { approvalReviews?: ItemApprovalReview[] }): { approvalReviews?: ItemApprovalReview[] } {
  if (approvalReviews === undefined) return {};
  return {
    approvalReviews: approvalReviews.map((each) =>
      each.review.status === 'inProgress' ? { ...each, review: { ...each.review, status: 'aborted' } } : each,
    ),
  };
}
