import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { GuardianApprovalReview, ItemApprovalReview } from '../../protocol/generated/types.ts';
import type { Ask, OpenItem, PlannedAction, Verdict } from '../../tools/action.ts';
import type { Reviewer } from '../calls/reviewer.ts';
import type { Outbox } from '../outbox.ts';
import type { TurnContext, TurnPart } from '../turn/turn-part.ts';
import { actionHash } from './action-hash.ts';
import type { Judge, Judged } from './judge.ts';
import { ReviewLog } from './review-log.ts';

/** How many denials in a row interrupt a turn. */
const DENIALS_MAX = 3;

export interface GuardianDeps {
  threadId: string;
  clock: Clock;
  ids: Ids;
  outbox: Outbox;
  judge: Judge;
}

/**
 * Answers approval requests with a model in place of the user, if the turn's `approvalsReviewer` says so. Reviews run side by side.
 * Whatever is not a clear approval is a denial. Several denials in a row interrupt the turn.
 */
export class Guardian implements TurnPart, Reviewer {
  /** The reviews of this thread since it was loaded. */
  readonly log = new ReviewLog();
  readonly #deps: GuardianDeps;
  #denialsInARow = 0;

  constructor(deps: GuardianDeps) {
    this.#deps = deps;
  }

  turnBegan(): Record<string, never> {
    this.#denialsInARow = 0;
    return {};
  }

  async review(ask: Ask, show: () => Promise<OpenItem | null>, turn: TurnContext): Promise<Verdict | null> {
    if (turn.settings.approvalsReviewer === 'user' && ask.isForGuardian !== true) return null;
    const own = await show();
    const action = ask.describe();
    const review = new OpenReview(action, { item: own ?? action.item ?? null, turnId: turn.id, deps: this.#deps });
    await review.begin();
    let endsTurn = false;
    let judged: Judged;
    try {
      judged = this.log.takeApproval(review.stored.actionHash)
        ? APPROVED_BY_USER
        : await this.#deps.judge.judge(action.planned, withdrawable(turn, ask.signal));
      endsTurn = this.#count(judged);
      await review.end(judged, endsTurn);
    } catch (error) {
      await review.giveUp();
      throw error;
    }
    this.log.add(action.targetItemId, review.stored);
    if (judged.status === 'approved') return { allow: ask.permit, scope: 'once' };
    return { deny: { by: 'guardian', reason: toldOf(judged), endsTurn } };
  }

  /** Counts a review. Returns whether it was the denial that interrupts the turn. */
  #count({ status }: Judged): boolean {
    if (status === 'aborted') return false;
    this.#denialsInARow = status === 'approved' ? 0 : this.#denialsInARow + 1;
    return this.#denialsInARow === DENIALS_MAX;
  }
}

/** The turn for a question that ends before it. */
function withdrawable(turn: TurnContext, signal: AbortSignal | undefined): TurnContext {
  if (signal === undefined) return turn;
  const { id, kind, settings, steerRefusal } = turn;
  return { id, kind, settings, steerRefusal, signal: AbortSignal.any([turn.signal, signal]) };
}

const APPROVED_BY_USER: Judged = {
  status: 'approved',
  riskLevel: null,
  userAuthorization: 'high',
  rationale: 'The user approved this action after it had been denied.',
  hasFailed: false,
};

/** A review with its notifications. Its state is kept with the item that shows the action. */
class OpenReview {
  readonly #action: PlannedAction;
  readonly #item: OpenItem | null;
  readonly #turnId: string;
  readonly #deps: GuardianDeps;
  stored: ItemApprovalReview;

  constructor(action: PlannedAction, { item, turnId, deps }: { item: OpenItem | null; turnId: string; deps: GuardianDeps }) {
    this.#action = action;
    this.#item = item;
    this.#turnId = turnId;
    this.#deps = deps;
    this.stored = {
      reviewId: deps.ids.next(),
      turnId,
      startedAtMs: deps.clock.now(),
      completedAtMs: null,
      review: { status: 'inProgress', riskLevel: null, userAuthorization: null, rationale: null },
      action: action.shown,
      actionHash: actionHash(action.planned),
    };
  }

  begin(): Promise<void> {
    return this.#show([{ method: 'item/autoApprovalReview/started', params: this.#params() }]);
  }

  end(judged: Judged, endsTurn: boolean): Promise<void> {
    const { hasFailed: _, ...review } = judged;
    const completedAtMs = this.#deps.clock.now();
    this.stored = { ...this.stored, completedAtMs, review };
    const warn = (message: string): Announcement => ({ method: 'guardianWarning', params: { threadId: this.#deps.threadId, message } });
    const params = { ...this.#params(), completedAtMs, decisionSource: 'agent' as const };
    return this.#show([
      ...(review.status === 'aborted' ? [] : [warn(warning(judged))]),
      { method: 'item/autoApprovalReview/completed', params },
      ...(endsTurn ? [warn(`The automatic reviewer denied ${DENIALS_MAX} actions in a row, so the turn is interrupted.`)] : []),
    ]);
  }

  /** The review cannot be stored, or failed inside the server. Tells clients that it has ended. */
  giveUp(): Promise<void> {
    const review = { status: 'aborted' as const, riskLevel: null, userAuthorization: null, rationale: null };
    const completedAtMs = this.#deps.clock.now();
    const params = { ...this.#params(), review, completedAtMs, decisionSource: 'agent' as const };
    return this.#deps.outbox.announce([{ method: 'item/autoApprovalReview/completed', params }]);
  }

  #params() {
    const { reviewId, startedAtMs, review, action } = this.stored;
    const { threadId } = this.#deps;
    return { threadId, turnId: this.#turnId, startedAtMs, reviewId, targetItemId: this.#action.targetItemId, review, action };
  }

  /** Stores the review with its item, and then announces. */
  async #show(announce: Announcement[]): Promise<void> {
    if (this.#item === null) await this.#deps.outbox.commit({ announce });
    else await this.#item.review(this.stored, announce);
  }
}

function warning(judged: Judged): string {
  if (judged.hasFailed) return judged.rationale ?? 'The automatic review failed.';
  const { status, riskLevel, userAuthorization, rationale } = judged;
  const verdict = status === 'approved' ? 'approved' : 'denied';
  return `The automatic review ${verdict} an action (risk: ${riskLevel ?? 'unknown'}, authorization: ${userAuthorization ?? 'unknown'}): ${rationale ?? 'no reason was given'}`;
}

/** The text for the agent about an action that was not approved. */
function toldOf({ rationale, hasFailed }: GuardianApprovalReview & { hasFailed: boolean }): string {
  if (hasFailed) {
    return `This action was rejected and not performed, because its automatic review did not succeed. ${rationale ?? ''} This does not mean that the action is dangerous. Do not work around the review: continue without the action, or ask the user.`;
  }
  return `This action was rejected by the automatic reviewer and not performed. Reason: ${rationale ?? 'none was given'} Do not try to reach the same result in another way. Choose a safer alternative, or tell the user about the risk and ask for approval.`;
}
