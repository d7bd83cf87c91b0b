import { type ApprovalKind, whyNotAsked } from '../../policy/approvals/may-ask.ts';
import type { Permit } from '../../policy/permissions/permit.ts';
import type { Action, ActionHost, Ask, Judgement, Verdict } from '../../tools/action.ts';
import type { Denial, InterruptCause } from '../../tools/denial.ts';
import type { ActiveTurn } from '../turn/active-turn.ts';
import type { ActionQuestion } from '../turn/reviewer.ts';
import type { ActionDeps } from './action-deps.ts';
import type { ActionItem } from './action-item.ts';
import { both, demandedAsk } from './demanded-ask.ts';

/** Asks those who may decide about one action: the parts, the guardian, a person. */
export class ActionReview {
  readonly #action: Action;
  readonly #turn: ActiveTurn;
  readonly #deps: ActionDeps & { item: ActionItem };
  /** A verdict ends the turn: it is interrupted with this cause after the item has completed. */
  endsTurn: InterruptCause | null = null;

  constructor(action: Action, turn: ActiveTurn, deps: ActionDeps & { item: ActionItem }) {
    this.#action = action;
    this.#turn = turn;
    this.#deps = deps;
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
    const { signal } = this.#turn;
    const asked = await this.#deps.parts.emit(
      'approval',
      { ask, call: this.#deps.called?.call ?? null, demand },
      this.#turn,
      ask.signal === undefined ? signal : AbortSignal.any([signal, ask.signal]),
    );
    const answered = asked?.verdict ?? null;
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
    if ('allow' in verdict) await ask.keep?.(verdict, this.host());
    return verdict;
  }

  /**
   * A verdict ends the turn: at once if its action runs on, and would not end by itself; otherwise
   * when its item has completed.
   */
  #endTurn(cause: InterruptCause | null, { signal }: Pick<Ask, 'signal'>): void {
    if (cause === null) return;
    this.#turn.refuseInput();
    if (signal === undefined) this.endsTurn ??= cause;
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
    const answer = await this.#deps.guardian.review(
      question,
      () => this.#deps.item.show(),
      this.#turn,
    );
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
    return this.#deps.person.review(ask, () => this.#deps.item.show(), this.#turn);
  }

  /** The verdict that counts: after an interrupt, no answer does. */
  #settled(verdict: Verdict, question: Pick<Ask, 'signal'>): Verdict {
    if (this.#turn.signal.aborted)
      return { deny: { by: 'interrupted', cause: this.#turn.interruptCause ?? 'user' } };
    if ('deny' in verdict) this.#endTurn(endOfTurn(verdict.deny), question);
    return verdict;
  }

  /** The parts of the agent that the action uses. What it asks for later is reviewed too. */
  host(): ActionHost {
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
      countTokens: (usage) => outbox.commit(this.#deps.usage.aside(turn, usage)),
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
