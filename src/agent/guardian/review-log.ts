import type { JsonObject } from '../../base/json-value.ts';
import type { ItemApprovalReview, ResponseItem } from '../../protocol/generated/types.ts';

/** How many reviews, and how many approvals that no action has used, are kept. */
const KEPT_MAX = 200;

/** A review, and what it was about. */
export interface LoggedReview {
  /** The id of the item that shows the action, or the model's id for the call. */
  targetItemId: string;
  /** The whole action. Null: it is too long, or not known any more. */
  planned: JsonObject | null;
  review: ItemApprovalReview;
}

/** A denial that the user has overruled. */
interface Approval {
  /** Tells the model about it. */
  message: ResponseItem;
  /** Whether a turn has begun since then, so that the approval ends with that turn. */
  isOffered: boolean;
}

/** The latest reviews of a loaded thread, and the denials that the user has overruled. */
export class ReviewLog {
  readonly #reviews = new Map<string, LoggedReview>();
  /** By the hashes of the actions, each for one time. */
  readonly #approvals = new Map<string, Approval>();

  /** The last review that has ended; null: none has. */
  get last(): LoggedReview | null {
    return [...this.#reviews.values()].at(-1) ?? null;
  }

  add(logged: LoggedReview): void {
    this.#reviews.set(logged.review.reviewId, logged);
    dropOldest(this.#reviews);
  }

  find(reviewId: string): LoggedReview | null {
    return this.#reviews.get(reviewId) ?? null;
  }

  /** Lets the next action with this hash pass, until the end of the next turn that begins. */
  approve(hash: string, message: ResponseItem): void {
    this.#approvals.set(hash, { message, isOffered: false });
    dropOldest(this.#approvals);
  }

  /** The approval of the user for this action, which is then used up; null: there is none. */
  takeApproval(hash: string): ResponseItem | null {
    const message = this.#approvals.get(hash)?.message ?? null;
    this.#approvals.delete(hash);
    return message;
  }

  /** The messages about the approvals that no action has used. */
  get open(): ResponseItem[] {
    return [...this.#approvals.values()].map(({ message }) => message);
  }

  turnBegan(): void {
    for (const approval of this.#approvals.values()) approval.isOffered = true;
  }

  turnEnded(): void {
    for (const [hash, { isOffered }] of this.#approvals)
      if (isOffered) this.#approvals.delete(hash);
  }

  /** Forgets everything: the turns that it is about may be removed. */
  clear(): void {
    this.#reviews.clear();
    this.#approvals.clear();
  }
}

function dropOldest(kept: Map<string, unknown>): void {
  const [oldest] = kept.keys();
  if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
}
