import type { ItemApprovalReview } from '../../protocol/generated/types.ts';

/** How many reviews, and how many approvals that no action has used, are kept. */
const KEPT_MAX = 200;

/** A review, and what it was about. */
export interface LoggedReview {
  targetItemId: string | null;
  review: ItemApprovalReview;
}

/** The latest reviews of a loaded thread, and the denials that the user has overruled. */
export class ReviewLog {
  readonly #reviews = new Map<string, LoggedReview>();
  /** The hashes of actions that the user has approved, each for one time. */
  readonly #approved = new Set<string>();

  /** The last review that has ended; null: none has. */
  get last(): LoggedReview | null {
    return [...this.#reviews.values()].at(-1) ?? null;
  }

  add(targetItemId: string | null, review: ItemApprovalReview): void {
    this.#reviews.set(review.reviewId, { targetItemId, review });
    dropOldest(this.#reviews);
  }

  find(reviewId: string): LoggedReview | null {
    return this.#reviews.get(reviewId) ?? null;
  }

  /** Lets the next action with this hash pass. */
  approve(hash: string): void {
    this.#approved.add(hash);
    dropOldest(this.#approved);
  }

  /** Whether the user has approved this action. It is then used up. */
  takeApproval(hash: string): boolean {
    return this.#approved.delete(hash);
  }
}

function dropOldest(kept: Map<string, unknown> | Set<string>): void {
  const [oldest] = kept.keys();
  if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
}
