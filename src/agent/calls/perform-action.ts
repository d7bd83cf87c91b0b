import type { Log } from '../../base/log.ts';
import type { Grants } from '../../policy/permissions/grants.ts';
import { type ApprovalKind, whyNotAsked } from '../../policy/permissions/may-ask.ts';
import type { Permit } from '../../policy/permissions/permit.ts';
import type { TokenUsageBreakdown } from '../../protocol/generated/types.ts';
import { settleItem } from '../../store/settle-item.ts';
import type {
  Action,
  ActionHost,
  ActionOutcome,
  Ask,
  Judgement,
  OpenItem,
  Verdict,
} from '../../tools/action.ts';
import type { Denial, InterruptCause } from '../../tools/denial.ts';
import type { ThreadItems } from '../items/thread-items.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { StepAddition } from '../outbox/step.ts';
import type { ActiveTurn } from '../turn/active-turn.ts';
import type { TurnContext } from '../turn/turn-part.ts';
import type { TurnParts } from '../turn/turn-parts.ts';
import type { ClientQuestions } from './client-questions.ts';
import { both, demandedAsk } from './demanded-ask.ts';
import type { PerformedAction, PerformedCall } from './performed-call.ts';
import type { ActionQuestion, ForPerson, Reviewer } from './reviewer.ts';

/** The collaborators that a thread's actions are performed with. */
export interface ActionDeps {
  parts: TurnParts;
  guardian: Reviewer<ActionQuestion, Verdict | ForPerson>;
  person: Reviewer;
  questions: ClientQuestions;
  grants: Grants;
  items: ThreadItems;
  outbox: Outbox;
  /**
   * Adds the usage of a request aside to that of the thread at once, and returns the step that
   * stores and announces it.
   */
  tokensStep(turn: TurnContext, usage: TokenUsageBreakdown): StepAddition;
  /** The call that prepared the action. Absent: the model did not call for it. */
  called?: PerformedCall;
  log: Log;
}

/**
 * Takes an action through its steps: the turn's parts may refuse it, policy judges it, reviewers
 * answer policy's question, its item begins, it is performed, its item completes. The item of an
 * action that parts or policy refuse does not begin, unless it is shown first. Rejects if the store
 * fails or the action throws.
 */
export async function performAction(
  action: Action,
  turn: ActiveTurn,
  deps: ActionDeps,
): Promise<PerformedAction> {
  const run = new ActionRun(action, turn, deps);
  const outcome = await run.take(async () => {
    const refusal = await deps.parts.beforeAction(action, turn);
    if (action.isShownFirst === true) await run.show();
    if (refusal !== null) return run.refuseUnasked({ by: 'part', reason: refusal });
    const judged = await action.judge(turn.settings, deps.grants);
    if ('refuse' in judged) return run.refuseUnasked({ by: 'policy', reason: judged.refuse });
    const verdict = await run.decide(judged);
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

/** An action that is being reviewed or performed, with its item. */
class ActionRun {
  readonly #action: Action;
  readonly #turn: ActiveTurn;
  readonly #deps: ActionDeps;
  #begun: Promise<OpenItem | null> | null = null;
  /** The item has completed, or the action completes it later by itself. */
  #isFinished = false;
  /** Whether it was performed. */
  isPerformed = false;
  /** A reviewer ends the turn: it is interrupted with this cause after the item has completed. */
  #endsTurn: InterruptCause | null = null;

  constructor(action: Action, turn: ActiveTurn, deps: ActionDeps) {
    this.#action = action;
    this.#turn = turn;
    this.#deps = deps;
  }

  /**
   * Takes the steps, and closes the action. If a step throws, an item that has begun completes as
   * failed.
   */
  async take(steps: () => Promise<ActionOutcome>): Promise<ActionOutcome> {
    try {
      return await steps();
    } catch (error) {
      await this.#fail();
      throw error;
    } finally {
      await this.#action.close?.();
    }
  }

  /**
   * Asks if policy does, or if a check of the action or a part demands that. A check of the action
   * asks under every approval policy, a part only where the policy allows questions of this kind.
   */
  async decide(judged: Exclude<Judgement, { refuse: string }>): Promise<Verdict> {
    const ofPart = this.#deps.called?.ask ?? null;
    if ('ask' in judged)
      return this.#review(ofPart === null ? judged.ask : demandedAsk(judged.ask, ofPart), ofPart);
    const checked = judged.demand ?? null;
    const demand =
      checked === null || ofPart === null ? (checked ?? ofPart) : both(checked, ofPart);
    if (demand === null) return this.#reviewStrictly(judged.run);
    const ask = this.#action.approval?.(judged.run, demand);
    if (ask === undefined)
      return refusedUnasked(demand, 'nobody can be asked about calls of this kind');
    const why =
      checked === null
        ? whyNotAsked(this.#turn.settings.approvalPolicy, approvalKindOf(this.#action))
        : null;
    return why === null ? this.#review(ask, demand) : refusedUnasked(demand, why);
  }

  /**
   * Asks the parts, then the reviewer, and keeps what the verdict allows beyond this action. Parts
   * cannot allow what a check demands.
   */
  async #review(ask: Ask, demand: string | null): Promise<Verdict> {
    const { settings } = this.#turn;
    const isForGuardian = settings.approvalsReviewer !== 'user' || this.#isReviewedStrictly;
    const answered = await this.#deps.parts.approvalAsked(
      { ask, call: this.#deps.called?.call ?? null, demand },
      this.#turn,
    );
    const ofParts = answered !== null && 'allow' in answered && demand !== null ? null : answered;
    const verdict = this.#settled(
      ofParts ??
        (await (isForGuardian
          ? this.#askGuardian(ask, {
              forPerson: (why) => demandedAsk(ask, why),
              isOfPolicy: this.#action.kind !== 'stdin',
            })
          : this.#askPerson(ask))),
      ask,
    );
    if ('allow' in verdict) await ask.keep?.(verdict, this.#host());
    return verdict;
  }

  /**
   * A verdict ends the turn: at once if its action runs on, and would not end by itself; otherwise
   * when its item has completed.
   */
  #endTurn(cause: InterruptCause | null, { signal }: Pick<Ask, 'signal'>): void {
    if (cause === null) return;
    this.#turn.refuseInput();
    if (signal === undefined) this.#endsTurn ??= cause;
    else this.#turn.interrupt(cause);
  }

  /**
   * Asks the guardian about an action that policy allows, if a client has demanded that for the
   * rest of the turn.
   */
  async #reviewStrictly(permit: Permit): Promise<Verdict> {
    const { describe } = this.#action;
    if (!this.#isReviewedStrictly || describe === undefined)
      return { allow: permit, scope: 'once' };
    const question = { permit, describe: () => describe.call(this.#action, permit) };
    return this.#settled(
      await this.#askGuardian(question, {
        forPerson: (why) => this.#action.approval?.(permit, why),
        isOfPolicy: false,
      }),
      {},
    );
  }

  async perform(permit: Permit): Promise<ActionOutcome> {
    const open = await this.show();
    this.isPerformed = true;
    return this.#finish(await this.#action.perform(permit, open, this.#host()), open);
  }

  async refuse(denial: Denial): Promise<ActionOutcome> {
    // Without the reason: it may be the output of a hook.
    const endsTurn = 'endsTurn' in denial && denial.endsTurn === true;
    this.#deps.log.info(
      { turnId: this.#turn.id, kind: this.#action.kind, by: denial.by, endsTurn },
      'an action was not allowed',
    );
    return this.#finish(this.#action.refused(denial), await this.show());
  }

  /** Refuses the action without a question. Only an item that has begun is shown. */
  async refuseUnasked(denial: Denial): Promise<ActionOutcome> {
    return this.#begun === null ? this.#action.refused(denial) : this.refuse(denial);
  }

  async #fail(): Promise<void> {
    const open = (await this.#begun?.catch(() => null)) ?? null;
    if (open !== null && !this.#isFinished) await open.complete(settleItem(open.item));
  }

  /**
   * Whether a client has demanded that the guardian reviews this action. Permissions are then still
   * granted by the thread's reviewer.
   */
  get #isReviewedStrictly(): boolean {
    return this.#deps.grants.reviewsAll && this.#action.kind !== 'permissions';
  }

  /**
   * Asks the guardian, or a person if the guardian cannot judge the action. `forPerson` makes the
   * question for the person. `isOfPolicy`: policy has asked, so a person may be asked, too.
   */
  async #askGuardian(
    question: ActionQuestion,
    { forPerson, isOfPolicy }: { forPerson: (why: string) => Ask | undefined; isOfPolicy: boolean },
  ): Promise<Verdict> {
    const answer = await this.#deps.guardian.review(question, () => this.show(), this.#turn);
    if (!('person' in answer)) return answer;
    const why = isOfPolicy
      ? null
      : whyNotAsked(this.#turn.settings.approvalPolicy, approvalKindOf(this.#action));
    const ask = forPerson(answer.person);
    if (why !== null || ask === undefined)
      return refusedUnasked(answer.person, why ?? 'nobody can be asked about calls of this kind');
    return this.#askPerson(ask);
  }

  #askPerson(ask: Ask): Promise<Verdict> {
    return this.#deps.person.review(ask, () => this.show(), this.#turn);
  }

  /** The verdict that counts: after an interrupt, no answer does. */
  #settled(verdict: Verdict, question: Pick<Ask, 'signal'>): Verdict {
    if (this.#turn.signal.aborted)
      return { deny: { by: 'interrupted', cause: this.#turn.interruptCause ?? 'user' } };
    if ('deny' in verdict) this.#endTurn(endOfTurn(verdict.deny), question);
    return verdict;
  }

  /** Begins the item, once. */
  show(): Promise<OpenItem | null> {
    const { item } = this.#action;
    this.#begun ??=
      item === null ? Promise.resolve(null) : this.#deps.items.begin(this.#turn.id, item);
    return this.#begun;
  }

  async #finish(outcome: ActionOutcome, open: OpenItem | null): Promise<ActionOutcome> {
    const item = outcome.item ?? this.#action.item;
    this.#isFinished = true;
    if (open !== null && item !== null && item !== 'runsOn')
      await open.complete(item, () => this.#deps.called?.output.entries(outcome) ?? []);
    if (outcome.after !== undefined && outcome.after.length > 0)
      await this.#deps.outbox.commit({ announce: [...outcome.after] });
    if (this.#endsTurn !== null) this.#turn.interrupt(this.#endsTurn);
    return outcome;
  }

  #host(): ActionHost {
    const { questions, outbox } = this.#deps;
    const turn = this.#turn;
    const { signal } = turn;
    return {
      requestMore: (ask) => this.#review(ask, null),
      askUser: (request, withdrawn) => {
        const until = withdrawn === undefined ? signal : AbortSignal.any([signal, withdrawn]);
        return questions.whileWaiting('waitingOnUserInput', () => questions.ask(request, until));
      },
      callClientTool: (params) =>
        questions.askToolProvider({ method: 'item/tool/call', params }, signal),
      answerMsMax: questions.answerMsMax,
      countTokens: (usage) => outbox.commit(this.#deps.tokensStep(turn, usage)),
      emit: (announcement) => outbox.commit({ announce: [announcement] }),
      signal,
      get newInput() {
        return turn.newInput;
      },
      turnOver: turn.over,
      get interruptCause() {
        return turn.interruptCause;
      },
    };
  }
}

/** A check demands an approval that nobody can give. */
function refusedUnasked(demand: string, why: string): Verdict {
  return {
    deny: {
      by: 'part',
      reason: `This call needs approval, but ${why}, so it was not performed. ${demand}`,
    },
  };
}

/** The kind of approval that policy allows or refuses for an action. */
function approvalKindOf({ kind }: Action): ApprovalKind {
  if (kind === 'mcpTool') return 'mcp_elicitations';
  return kind === 'permissions' ? 'request_permissions' : 'sandbox_approval';
}

/** The cause with which a denial interrupts the turn; null: the turn goes on. */
function endOfTurn(denial: Denial): InterruptCause | null {
  if (denial.by === 'cancelled') return 'user';
  if (denial.by === 'part') return denial.endsTurn ? 'hook' : null;
  return denial.by === 'guardian' && denial.endsTurn ? 'guardian' : null;
}
