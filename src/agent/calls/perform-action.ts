import type { Permit } from '../../policy/permissions/permit.ts';
import type { Action, ActionOutcome, OpenItem } from '../../tools/action.ts';
import type { Denial } from '../../tools/denial.ts';
import type { ActiveTurn } from '../turn/active-turn.ts';
import type { ActionDeps } from './action-deps.ts';
import { ActionItem } from './action-item.ts';
import { ActionReview } from './action-review.ts';
import type { PerformedAction } from './performed-call.ts';

/**
 * Takes an action through its steps: policy judges it, reviewers answer policy's question, its item
 * begins, it is performed, its item completes. The item of an action that policy refuses does not
 * begin, unless it is shown first. Rejects if the store fails or the action throws.
 */
export async function performAction(
  action: Action,
  turn: ActiveTurn,
  deps: ActionDeps,
): Promise<PerformedAction> {
  const run = new ActionRun(action, turn, deps);
  const outcome = await run.take(async () => {
    if (action.isShownFirst === true) await run.item.show();
    const judged = await action.judge(turn.settings, deps.grants);
    if ('refuse' in judged) return run.refuseUnasked({ by: 'policy', reason: judged.refuse });
    const verdict = await run.review.decide(judged);
    return 'allow' in verdict ? run.perform(verdict.allow) : run.refuse(verdict.deny);
  });
  return { outcome, isPerformed: run.isPerformed };
}

/** Performs a user's action, which needs no decision. */
export function performUserAction(
  action: Action,
  permit: Permit,
  turn: ActiveTurn,
  deps: ActionDeps,
): Promise<ActionOutcome> {
  const run = new ActionRun(action, turn, deps);
  return run.take(() => run.perform(permit));
}

/** An action that is being performed or refused, with its item. */
class ActionRun {
  readonly #action: Action;
  readonly #turn: ActiveTurn;
  readonly #deps: ActionDeps;
  readonly item: ActionItem;
  readonly review: ActionReview;
  /** Whether it was performed. */
  isPerformed = false;

  constructor(action: Action, turn: ActiveTurn, deps: ActionDeps) {
    this.#action = action;
    this.#turn = turn;
    this.#deps = deps;
    this.item = new ActionItem(action, turn.id, deps.items);
    this.review = new ActionReview(action, turn, { ...deps, item: this.item });
  }

  /**
   * Takes the steps, and closes the action. If a step throws, an item that has begun completes as
   * failed.
   */
  async take(steps: () => Promise<ActionOutcome>): Promise<ActionOutcome> {
    try {
      return await steps();
    } catch (error) {
      await this.item.fail();
      throw error;
    } finally {
      await this.#action.close?.();
    }
  }

  async perform(permit: Permit): Promise<ActionOutcome> {
    const open = await this.item.show();
    this.isPerformed = true;
    return this.#finish(await this.#action.perform(permit, open, this.review.host()), open);
  }

  async refuse(denial: Denial): Promise<ActionOutcome> {
    // Without the reason: it may be the output of a hook.
    const endsTurn = 'endsTurn' in denial && denial.endsTurn === true;
    this.#deps.log.info(
      { turnId: this.#turn.id, kind: this.#action.kind, by: denial.by, endsTurn },
      'an action was not allowed',
    );
    return this.#finish(this.#action.refused(denial), await this.item.show());
  }

  /** Refuses the action without a question. Only an item that has begun is shown. */
  async refuseUnasked(denial: Denial): Promise<ActionOutcome> {
    return this.item.isShown ? this.refuse(denial) : this.#action.refused(denial);
  }

  async #finish(outcome: ActionOutcome, open: OpenItem | null): Promise<ActionOutcome> {
    if (open !== null) await this.item.complete(outcome, open, this.#deps.called?.output);
    if (outcome.after !== undefined && outcome.after.length > 0)
      await this.#deps.outbox.commit({ announce: [...outcome.after] });
    const { endsTurn } = this.review;
    if (endsTurn !== null) this.#turn.interrupt(endsTurn);
    return outcome;
  }
}
