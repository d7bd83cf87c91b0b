import {
  goalBudgetMessage,
  goalEditedMessage,
  goalTurnMessage,
} from '../../instructions/messages/goal-turn-message.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type {
  ResponseItem,
  ThreadGoal,
  TokenUsageBreakdown,
} from '../../protocol/generated/types.ts';
import type { GoalRecord } from '../../store/goal-record.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import type { ThreadPatch } from '../../store/thread-record.ts';
import { isDecided } from '../../tools/denial.ts';
import { type GoalAccess, goalTools } from '../../tools/goal-tools.ts';
import type { Tool } from '../../tools/tool.ts';
import type { StepAddition } from '../outbox/step.ts';
import type { ThreadContext } from '../thread-context.ts';
import { authored } from '../turn/turn-input.ts';
import type { DueTurn, Opening, TurnContext, TurnOutcome, TurnPart } from '../turn/turn-part.ts';
import { CurrentGoal } from './current-goal.ts';
import {
  changedGoal,
  charged,
  chargedTokens,
  type GoalChange,
  goalProblem,
  goalView,
  listingPatch,
} from './goal-change.ts';

/** How many turns in a row may begin for a goal without input of a client. */
const GOAL_TURNS_MAX = 100;
/** How many of them in a row may end without a tool call. */
const IDLE_GOAL_TURNS_MAX = 2;

/**
 * The goal of a loaded thread. Clients and the model set it, turns are charged to it, and while it
 * is active the thread begins turns by itself. It changes in memory at once; the store and clients
 * follow in the order of the thread's other steps.
 */
export class GoalKeeper implements GoalAccess, TurnPart {
  readonly #thread: ThreadContext;
  readonly #goal: CurrentGoal;
  /**
   * The running turn. `isUnprompted`: it was begun for the goal, and no client has given input
   * since.
   */
  #turn: { isUnprompted: boolean } | null = null;
  /** The time up to which the turn has been charged to the goal, on the steady clock. */
  #chargedUntilMs = 0;
  /** The changes that the model of the running turn has not read about yet. */
  #unreported = new Set<'edited' | 'spent'>();
  #unpromptedTurns = 0;
  #idleTurns = 0;

  #tools: readonly Tool[] | null = null;

  constructor(thread: ThreadContext) {
    this.#thread = thread;
    this.#goal = new CurrentGoal(thread);
  }

  current(): ThreadGoal | null {
    return this.#goal.shown;
  }

  /** Whether the configuration lets the thread have a goal. */
  get isEnabled(): boolean {
    return this.#goal.isEnabled;
  }

  /** Whether the thread may have a goal. If so, the model has the tools for goals. */
  get available(): boolean {
    return this.#goal.isAvailable;
  }

  /**
   * Makes a client's change, which must be valid. Resolves when it is stored; the caller announces
   * it with `announce`.
   */
  async set(change: GoalChange): Promise<ThreadGoal> {
    await this.#thread.beginnings.settle();
    const before = this.#charged();
    const goal = changedGoal(before, change, this.#now());
    if (before === null || before.status !== 'active' || goal.objective !== before.objective)
      this.#thread.services.agents.usage.forgetUntold(this.#thread.id);
    if (before !== null && goal.objective !== before.objective) this.#unreported.add('edited');
    if (change.objective !== null || change.status !== null) this.#startOver();
    await this.#goal.store({ ...listingPatch(this.#thread.state.record, change), goal });
    return goalView(this.#thread.id, goal);
  }

  /** Removes the goal for a client. Resolves with false if there was none. */
  async clear(): Promise<boolean> {
    await this.#thread.beginnings.settle();
    if (this.#goal.record === null) return false;
    await this.#goal.store({ goal: null });
    return true;
  }

  /** Announces the goal as it is now, after all steps so far. */
  announce(): void {
    void this.#thread.outbox.announce([this.#goal.announcement(null)]);
  }

  async create({
    objective,
    tokenBudget,
    turnId,
  }: {
    objective: string;
    tokenBudget: number | null;
    turnId: string;
  }) {
    const change: GoalChange = { objective, isModels: true, status: 'active', tokenBudget };
    const problem = goalProblem(change);
    if (problem !== null) return { refused: problem.message };
    const before = this.#goal.record;
    if (before !== null && before.status !== 'complete') return { refused: UNFINISHED };
    // The turn's time so far is not charged to the new goal, nor are the tokens of agents.
    this.#charged();
    this.#thread.services.agents.usage.forgetUntold(this.#thread.id);
    return this.#change(changedGoal(null, change, this.#now()), turnId);
  }

  async mark(status: 'complete' | 'blocked' | 'paused', turnId: string) {
    const before = this.#charged();
    if (before === null) return { refused: 'This thread has no goal.' };
    return this.#change(
      changedGoal(before, { objective: null, status, tokenBudget: undefined }, this.#now()),
      turnId,
    );
  }

  tools(soFar: readonly Tool[]): readonly Tool[] {
    this.#tools ??= goalTools(this);
    return this.available ? [...soFar, ...this.#tools] : soFar;
  }

  /** The next turn for the goal. There is none in plan mode, where the user decides. */
  due(): DueTurn | null {
    const { goal, settings } = this.#thread.state.record;
    const isFree =
      this.available && this.#turn === null && settings.collaborationMode.mode !== 'plan';
    if (!isFree || goal?.status !== 'active' || goal.awaitsUser) return null;
    return {
      kind: 'goal',
      tell: [goalTurnMessage(goalView(this.#thread.id, goal), { idle: this.#idleTurns > 0 })],
    };
  }

  opened(how: Opening): Announcement[] {
    return how === 'resumed' ? [this.#goal.announcement(null)] : [];
  }

  inputArrived(): StepAddition {
    this.#startOver();
    if (this.#turn !== null) this.#turn.isUnprompted = false;
    const goal = this.#goal.record;
    if (goal?.awaitsUser !== true) return {};
    const patch: ThreadPatch = { goal: { ...goal, awaitsUser: false } };
    this.#thread.state.keep(patch);
    return { patch };
  }

  turnBegan({ kind }: TurnContext): StepAddition {
    const isUnprompted = kind === 'goal';
    this.#turn = { isUnprompted };
    this.#chargedUntilMs = this.#thread.services.runtime.clock.monotonic();
    this.#unreported.clear();
    if (isUnprompted) this.#unpromptedTurns++;
    return {};
  }

  tokensUsed(turn: TurnContext | null, usage: TokenUsageBreakdown): StepAddition {
    const before = this.current();
    const goal = this.#charged(chargedTokens(usage));
    if (goal?.status === 'budgetLimited' && before?.status === 'active')
      this.#unreported.add('spent');
    return this.#goal.step(before, { goal, turnId: turn?.id ?? null });
  }

  beforeRequest(): { tell: ResponseItem[] } {
    const goal = this.current();
    const changes = [...this.#unreported];
    this.#unreported.clear();
    if (goal === null) return { tell: [] };
    const relevant = changes.filter((kind) => kind === 'spent' || goal.status === 'active');
    return {
      tell: relevant.map((kind) =>
        kind === 'edited' ? goalEditedMessage(goal) : goalBudgetMessage(goal),
      ),
    };
  }

  /** The message that began a turn for the goal. */
  readAgain({ kind }: TurnContext): AuthoredItem[] {
    const goal = kind === 'goal' ? this.current() : null;
    return goal?.status === 'active'
      ? authored('context', [goalTurnMessage(goal, { idle: false })])
      : [];
  }

  turnEnded({ id, kind }: TurnContext, { status, error, cause, acted }: TurnOutcome): StepAddition {
    const before = this.current();
    let goal = this.#charged();
    const isUnprompted = this.#turn?.isUnprompted === true;
    this.#turn = null;
    if (goal?.status !== 'active') return this.#goal.step(before, { goal, turnId: id });
    let warning: string | null = null;
    if (status === 'failed' && kind !== 'compact' && kind !== 'review') {
      goal = {
        ...goal,
        status: error?.codexErrorInfo === 'usageLimitExceeded' ? 'usageLimited' : 'blocked',
      };
    } else if (status === 'interrupted' && kind !== 'review') {
      // If the server interrupts the turn, for example to archive the thread, the goal stays as it
      // is.
      goal = { ...goal, awaitsUser: isDecided(cause) };
    } else if (isUnprompted) {
      warning = this.#limitPassed(acted);
      if (warning !== null) goal = { ...goal, status: 'blocked' };
    }
    return this.#goal.step(before, { goal, turnId: id, warning });
  }

  #startOver(): void {
    this.#unpromptedTurns = 0;
    this.#idleTurns = 0;
  }

  /**
   * Counts a turn that was begun for the goal. Returns a warning if no more may begin, else null.
   */
  #limitPassed(acted: boolean): string | null {
    this.#idleTurns = acted ? 0 : this.#idleTurns + 1;
    if (this.#idleTurns >= IDLE_GOAL_TURNS_MAX)
      return stopped(`the agent ended ${IDLE_GOAL_TURNS_MAX} turns without calling a tool`);
    return this.#unpromptedTurns >= GOAL_TURNS_MAX
      ? stopped(`the agent has taken ${GOAL_TURNS_MAX} turns by itself`)
      : null;
  }

  /**
   * The goal after the running turn's time so far and these tokens are charged to it. Does not
   * store it.
   */
  #charged(tokens = 0): GoalRecord | null {
    const { clock } = this.#thread.services.runtime;
    const goal = this.#goal.record;
    const now = clock.monotonic();
    const ms = this.#turn === null ? 0 : Math.max(0, Math.round(now - this.#chargedUntilMs));
    this.#chargedUntilMs = now;
    return goal === null ? null : charged(goal, { tokens, ms, nowMs: clock.now() });
  }

  async #change(goal: GoalRecord, turnId: string): Promise<ThreadGoal> {
    await this.#goal.store({ goal }, turnId);
    return goalView(this.#thread.id, goal);
  }

  #now(): { threadId: string; nowMs: number } {
    return { threadId: this.#thread.id, nowMs: this.#thread.services.runtime.clock.now() };
  }
}

const UNFINISHED =
  'The thread already has a goal that is not complete. Complete it first, or let the user clear it.';

function stopped(why: string): string {
  return `The thread no longer works towards its goal by itself: ${why}. Set the goal to active to go on.`;
}
