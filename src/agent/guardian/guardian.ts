import { EventLoopYield } from '../../base/event-loop-yield.ts';
import type { JsonObject } from '../../base/json-value.ts';
import { orAborted } from '../../base/or-aborted.ts';
import { jsonWeight } from '../../base/text/json-pieces.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import type { OpenItem, PlannedAction, Verdict } from '../../tools/action.ts';
import type { ActionQuestion, ForPerson, Reviewer } from '../turn/reviewer.ts';
import { authored } from '../turn/turn-input.ts';
import type { TurnContext, TurnPart } from '../turn/turn-part.ts';
import { actionHash } from './action-hash.ts';
import { type DenialPlace, type Denials, DenialsInARow } from './denials.ts';
import type { Judge } from './judge.ts';
import { ABORTED, type Judged } from './judged.ts';
import { OpenReview, type ReviewedThread } from './open-review.ts';
import { ReviewLog } from './review-log.ts';
import { withoutSpelling } from './without-spelling.ts';

/** Longer actions, in characters of their JSON, are not kept after their review. */
const KEPT_CHARS_MAX = 20_000;

interface GuardianDeps extends ReviewedThread {
  judge: Judge;
  sessionId: string;
  /** Those of the whole tree of agents. */
  denials: Denials;
}

/**
 * Answers approval requests with a model in place of the user. Reviews run side by side, except
 * those of patches, which are exclusive calls. Every answer but a clear approval is a denial. An
 * action that it has denied is not reviewed again in the turn. Several denials in a row interrupt
 * the turn, and so do many in all agents together.
 */
export class Guardian implements TurnPart, Reviewer<ActionQuestion, Verdict | ForPerson> {
  /** The reviews of this thread since it was loaded. */
  readonly log = new ReviewLog();
  readonly #deps: GuardianDeps;
  readonly #breaks = new EventLoopYield();
  readonly #inARow = new DenialsInARow();

  constructor(deps: GuardianDeps) {
    this.#deps = deps;
  }

  turnBegan({ kind }: TurnContext): Record<string, never> {
    this.#inARow.end();
    if (isOfAgent(kind)) this.log.turnBegan();
    return {};
  }

  beforeRequest({ kind, settings }: TurnContext): Record<string, never> {
    if (isOfAgent(kind) && settings.approvalsReviewer !== 'user') void this.#deps.judge.prepare();
    return {};
  }

  turnEnded({ kind }: TurnContext): Record<string, never> {
    if (isOfAgent(kind)) this.log.turnEnded();
    return {};
  }

  readAgain(): AuthoredItem[] {
    return authored('approval', this.log.open);
  }

  async endWork(): Promise<void> {
    this.log.clear();
  }

  /**
   * The user overrules a denial: the action passes once without a review. Takes its hash, and the
   * message that tells the model.
   */
  approve(hash: string, message: ResponseItem): void {
    this.log.approve(hash, message);
  }

  async review(
    question: ActionQuestion,
    show: () => Promise<OpenItem | null>,
    turn: TurnContext,
  ): Promise<Verdict | ForPerson> {
    const own = await show();
    const action = await question.describe();
    const person = this.#deps.judge.needsPerson(action.planned);
    if (person !== null) return { person };
    const { planned, files = {} } = action;
    const hash = await actionHash({ planned, files }, this.#breaks);
    const review = new OpenReview(action, {
      hash: files === null ? null : hash,
      item: own ?? action.item ?? null,
      turnId: turn.id,
      thread: this.#deps,
    });
    await review.begin();
    const signal =
      question.signal === undefined ? turn.signal : AbortSignal.any([turn.signal, question.signal]);
    const approval = signal.aborted || files === null ? null : this.log.takeApproval(hash);
    let judged: Judged = APPROVED_BY_USER;
    let limit: string | null = null;
    try {
      if (approval === null)
        judged = await this.#judged(action, hash, { ...factsOf(turn), signal });
      limit = this.#count(judged, turn);
      await review.end(judged, limit);
    } catch (error) {
      await review.giveUp();
      if (approval !== null) this.log.approve(hash, approval);
      throw error;
    }
    if (judged.person !== undefined) return { person: judged.person };
    this.log.add({
      targetItemId: action.targetItemId,
      planned: keptPlan(action),
      review: review.stored,
    });
    // Then the action is not performed.
    if (approval !== null && signal.aborted) this.log.approve(hash, approval);
    if (judged.status === 'approved') return { allow: question.permit, scope: 'once' };
    return { deny: { by: 'guardian', reason: toldOf(judged), endsTurn: limit !== null } };
  }

  async #judged(
    { planned, files = {}, claims }: PlannedAction,
    hash: string,
    turn: TurnContext,
  ): Promise<Judged> {
    const { judge, denials } = this.#deps;
    const key = await actionHash({ planned: await withoutSpelling(planned), files }, this.#breaks);
    const judged = denials.reviewed(this.#place(turn), key, () =>
      judge.judge({ ...planned, ...claims, actionHash: hash }, turn),
    );
    const ended = await orAborted(judged, turn.signal);
    return ended === null || turn.signal.aborted ? ABORTED : ended;
  }

  /**
   * Counts a review. Returns the limit of denials that it has reached, which interrupts the turn;
   * null: none.
   */
  #count({ status }: Judged, turn: TurnContext): string | null {
    if (status === 'aborted') return null;
    if (status === 'approved') {
      this.#inARow.end();
      return null;
    }
    const limit = this.#deps.denials.count(this.#place(turn));
    return this.#inARow.count() ?? limit;
  }

  #place({ rootTurnId }: TurnContext): DenialPlace {
    return { sessionId: this.#deps.sessionId, rootTurnId };
  }
}

/** Whether the agent acts in turns of this kind, so that it can use an approval. */
function isOfAgent(kind: TurnContext['kind']): boolean {
  return kind !== 'shell' && kind !== 'review' && kind !== 'compact';
}

function factsOf(turn: TurnContext): Omit<TurnContext, 'signal'> {
  const {
    id,
    rootTurnId,
    kind,
    startedAtMs,
    clientMetadata,
    settings,
    steerRefusal,
    interruptCause,
  } = turn;
  return {
    id,
    rootTurnId,
    kind,
    startedAtMs,
    clientMetadata,
    settings,
    steerRefusal,
    interruptCause,
  };
}

function keptPlan({ planned }: PlannedAction): JsonObject | null {
  return jsonWeight(planned, KEPT_CHARS_MAX) > KEPT_CHARS_MAX ? null : planned;
}

const APPROVED_BY_USER: Judged = {
  status: 'approved',
  riskLevel: null,
  userAuthorization: 'high',
  rationale: 'The user approved this action after it had been denied.',
  hasFailed: false,
};

/** The text for the agent about an action that was not approved. */
function toldOf({ status, rationale, hasFailed }: Judged): string {
  if (status === 'aborted')
    return 'This action was not performed: it was no longer possible when its automatic review ended.';
  if (hasFailed) {
    return `This action was rejected and not performed, because its automatic review did not succeed. ${rationale ?? ''} This does not mean that the action is dangerous. Do not work around the review: continue without the action, or ask the user.`;
  }
  return `This action was rejected by the automatic reviewer and not performed. Reason: ${sentence(rationale ?? 'none was given')} Do not try to reach the same result in another way. Choose a safer alternative, or tell the user about the risk and ask for approval.`;
}

function sentence(text: string): string {
  return /[.!?…]["')\]]?$/.test(text) ? text : `${text}.`;
}
