import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { ItemApprovalReview } from '../../protocol/generated/types.ts';
import type { OpenItem, PlannedAction } from '../../tools/action.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Judged } from './judged.ts';
import { shownAction } from './shown-action.ts';

/** The thread whose action is reviewed. */
export interface ReviewedThread {
  threadId: string;
  clock: Clock;
  ids: Ids;
  outbox: Outbox;
}

/** A review with its notifications. Its state is kept with the item that shows the action. */
export class OpenReview {
  readonly #action: PlannedAction;
  readonly #item: OpenItem | null;
  readonly #turnId: string;
  readonly #thread: ReviewedThread;
  stored: ItemApprovalReview;

  constructor(
    action: PlannedAction,
    {
      hash,
      item,
      turnId,
      thread,
    }: { hash: string | null; item: OpenItem | null; turnId: string; thread: ReviewedThread },
  ) {
    this.#action = action;
    this.#item = item;
    this.#turnId = turnId;
    this.#thread = thread;
    this.stored = {
      reviewId: thread.ids.next(),
      turnId,
      startedAtMs: thread.clock.now(),
      completedAtMs: null,
      review: { status: 'inProgress', riskLevel: null, userAuthorization: null, rationale: null },
      action: shownAction(action.shown),
      actionHash: hash,
    };
  }

  begin(): Promise<void> {
    return this.#show([{ method: 'item/autoApprovalReview/started', params: this.#params() }]);
  }

  end(judged: Judged, limit: string | null): Promise<void> {
    const { status, riskLevel, userAuthorization, rationale } = judged;
    const review = { status, riskLevel, userAuthorization, rationale };
    const completedAtMs = this.#thread.clock.now();
    this.stored = { ...this.stored, completedAtMs, review };
    const warn = (message: string): Announcement => ({
      method: 'guardianWarning',
      params: { threadId: this.#thread.threadId, message },
    });
    const params = { ...this.#params(), completedAtMs, decisionSource: 'agent' as const };
    return this.#show([
      ...(status === 'aborted' ? [] : [warn(warning(judged))]),
      { method: 'item/autoApprovalReview/completed', params },
      ...(limit === null
        ? []
        : [warn(`The automatic reviewer denied ${limit}, so the turn is interrupted.`)]),
    ]);
  }

  /** The review cannot be stored, or failed inside the server. Tells clients that it has ended. */
  giveUp(): Promise<void> {
    const review = {
      status: 'aborted' as const,
      riskLevel: null,
      userAuthorization: null,
      rationale: null,
    };
    const completedAtMs = this.#thread.clock.now();
    const params = { ...this.#params(), review, completedAtMs, decisionSource: 'agent' as const };
    return this.#thread.outbox.announce([{ method: 'item/autoApprovalReview/completed', params }]);
  }

  #params() {
    const { reviewId, startedAtMs, review, action } = this.stored;
    const { threadId } = this.#thread;
    return {
      threadId,
      turnId: this.#turnId,
      startedAtMs,
      reviewId,
      targetItemId: this.#action.targetItemId,
      review,
      action,
    };
  }

  /** Stores the review with its item, and then announces. */
  async #show(announce: Announcement[]): Promise<void> {
    if (this.#item === null) await this.#thread.outbox.commit({ announce });
    else await this.#item.review(this.stored, announce);
  }
}

function warning(judged: Judged): string {
  if (judged.hasFailed) return judged.rationale ?? 'The automatic review failed.';
  const { status, riskLevel, userAuthorization, rationale } = judged;
  const verdict = status === 'approved' ? 'approved' : 'denied';
  return `The automatic review ${verdict} an action (risk: ${riskLevel ?? 'unknown'}, authorization: ${userAuthorization ?? 'unknown'}): ${rationale ?? 'no reason was given'}`;
}
