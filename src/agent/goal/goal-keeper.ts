import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { goalBudgetMessage, goalEditedMessage, goalTurnMessage } from '../../instructions/goal-turn-message.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { ResponseItem, ThreadGoal, TokenUsageBreakdown, TurnError } from '../../protocol/generated/types.ts';
import { StoreError } from '../../store/store-error.ts';
import type { GoalRecord, ThreadPatch, ThreadRecord } from '../../store/thread-store.ts';
import type { GoalAccess } from '../../tools/goal-tools.ts';
import type { Outbox, Step } from '../outbox.ts';
import { changedGoal, charged, type GoalChange, goalProblem, goalView, previewPatch } from './goal-change.ts';

/** How many turns in a row may be begun for a goal without a word of a client. */
const GOAL_TURNS_MAX = 100;
/** How many of them in a row may end without having called a tool. */
const IDLE_GOAL_TURNS_MAX = 2;

/** What the keeper of a goal needs of its thread. */
export interface GoalDeps {
  readonly clock: Clock;
  readonly outbox: Outbox;
  /** Whether the configuration lets the thread have a goal. */
  enabled(): boolean;
  record(): ThreadRecord;
  /** Resolves when a turn that is being begun for the goal has begun. */
  begun(): Promise<void>;
  /** Takes the goal, and what else a step changes with it, at once in memory. */
  keep(patch: ThreadPatch): void;
}

/** How a turn ended, as far as a goal is concerned. */
export interface TurnEnd {
  turnId: string;
  status: 'completed' | 'interrupted' | 'failed';
  error: TurnError | null;
  /** Whether the model called a tool that does something. */
  acted: boolean;
  /** Whether it was a user who interrupted it. */
  byUser: boolean;
}

/**
 * A loaded thread's goal: what clients and the model make of it, what its turns cost, and whether the thread is to go on by
 * itself. It changes in memory at once; what is stored and announced follows in the order of the thread's other steps.
 */
export class GoalKeeper implements GoalAccess {
  readonly #host: GoalDeps;
  /** The turn that runs, and whether it was begun for the goal and nobody has spoken since. */
  #turn: { id: string; alone: boolean } | null = null;
  /** Up to when the turn's time is put to the goal's account, on the steady clock. */
  #countedMs = 0;
  /** What the running turn's model has not been told of yet. */
  #news = new Set<'edited' | 'spent'>();
  #turnsAlone = 0;
  #idleTurns = 0;
  #closed = false;

  constructor(host: GoalDeps) {
    this.#host = host;
  }

  current(): ThreadGoal | null {
    const goal = this.#goal;
    return goal === null ? null : goalView(this.#threadId, goal);
  }

  /** Whether the thread may have a goal: then the model has its tools. */
  get available(): boolean {
    return this.#host.enabled() && !this.#host.record().ephemeral;
  }

  /** Makes a change that has no problem for a client. Stored when it resolves; `announce` tells of it. */
  async set(change: GoalChange): Promise<ThreadGoal> {
    await this.#host.begun();
    const before = this.#counted();
    const goal = changedGoal(before, change, this.#now());
    if (before !== null && goal.objective !== before.objective) this.#news.add('edited');
    if (change.objective !== null || change.status !== null) this.#startOver();
    await this.#store({ ...previewPatch(this.#host.record(), change), goal });
    return goalView(this.#threadId, goal);
  }

  /** Takes the goal away for a client; false where there was none. */
  async clear(): Promise<boolean> {
    await this.#host.begun();
    if (this.#goal === null) return false;
    await this.#store({ goal: null });
    return true;
  }

  /** Tells the thread's clients how the goal stands, behind all that has been stored. */
  announce(): void {
    void this.#host.outbox.announce([this.announcement(null)]);
  }

  /** What tells clients how the goal stands; `turnId` where a turn's work changed it. */
  announcement(turnId: string | null): Announcement {
    const threadId = this.#threadId;
    const goal = this.available ? this.current() : null;
    if (goal === null) return { method: 'thread/goal/cleared', params: { threadId } };
    return { method: 'thread/goal/updated', params: { threadId, turnId, goal } };
  }

  async create({ objective, tokenBudget, turnId }: { objective: string; tokenBudget: number | null; turnId: string }) {
    const change: GoalChange = { objective, status: 'active', tokenBudget };
    const problem = goalProblem(change);
    if (problem !== null) return { refused: problem.message };
    const before = this.#goal;
    if (before !== null && before.status !== 'complete') return { refused: UNFINISHED };
    // What the turn has taken so far is not this goal's.
    this.#counted();
    return this.#change(changedGoal(null, change, this.#now()), turnId);
  }

  async mark(status: 'complete' | 'blocked' | 'paused', turnId: string) {
    const before = this.#counted();
    if (before === null) return { refused: 'This thread has no goal.' };
    return this.#change(changedGoal(before, { objective: null, status, tokenBudget: undefined }, this.#now()), turnId);
  }

  /** Somebody has spoken: what is to be stored of it. */
  heard(): ThreadPatch {
    this.#startOver();
    if (this.#turn !== null) this.#turn.alone = false;
    const goal = this.#goal;
    if (goal?.awaitsUser !== true) return {};
    const patch: ThreadPatch = { goal: { ...goal, awaitsUser: false } };
    this.#host.keep(patch);
    return patch;
  }

  /** `alone`: nobody asked for this turn. */
  turnBegan(id: string, { alone }: { alone: boolean }): void {
    this.#turn = { id, alone };
    this.#countedMs = this.#host.clock.monotonic();
    this.#news.clear();
    if (alone) this.#turnsAlone++;
  }

  /** The step that puts a response to the goal's account: what was read and not cached, and what was said. */
  charge(turnId: string, usage: TokenUsageBreakdown): GoalStep {
    const before = this.current();
    const tokens = Math.max(0, usage.inputTokens - usage.cachedInputTokens) + usage.outputTokens;
    const goal = this.#counted(tokens);
    if (goal?.status === 'budgetLimited' && before?.status === 'active') this.#news.add('spent');
    return this.#step(before, { goal, turnId });
  }

  /** What the model is to be told before it is asked next in the running turn. */
  news(): ResponseItem[] {
    const goal = this.current();
    const news = [...this.#news];
    this.#news.clear();
    if (goal === null) return [];
    const due = news.filter((kind) => kind === 'spent' || goal.status === 'active');
    return due.map((kind) => (kind === 'edited' ? goalEditedMessage(goal) : goalBudgetMessage(goal)));
  }

  /** The step that a turn's end means for the goal. May be asked for twice, when a turn that completed could not be stored. */
  turnEnded(end: TurnEnd): GoalStep {
    const before = this.current();
    let goal = this.#counted();
    const alone = this.#turn?.alone === true;
    this.#turn = null;
    if (goal?.status !== 'active') return this.#step(before, { goal, turnId: end.turnId });
    let warning: string | null = null;
    if (end.status === 'failed') {
      goal = { ...goal, status: end.error?.codexErrorInfo === 'usageLimitExceeded' ? 'usageLimited' : 'blocked' };
    } else if (end.status === 'interrupted') {
      // Whoever archives the thread or shuts the server down has nothing against the goal.
      goal = { ...goal, awaitsUser: end.byUser };
    } else if (alone) {
      warning = this.#limitPassed(end.acted);
      if (warning !== null) goal = { ...goal, status: 'blocked' };
    }
    return this.#step(before, { goal, turnId: end.turnId, warning });
  }

  /** What opens the turn that is to be begun for the goal; null where none is. None is in plan mode, where the user decides. */
  nextTurn(): ResponseItem[] | null {
    const { goal, settings } = this.#host.record();
    const free = !this.#closed && this.available && this.#turn === null && settings.collaborationMode.mode !== 'plan';
    return free && goal?.status === 'active' && !goal.awaitsUser
      ? [goalTurnMessage(goalView(this.#threadId, goal), { idle: this.#idleTurns > 0 })]
      : null;
  }

  /** The turn that was due could not be begun: clients are told, and it is not tried again before something else happens. */
  notBegun(error: unknown, log: Log): void {
    const threadId = this.#threadId;
    if (!(error instanceof StoreError)) log.error({ err: error, threadId }, 'a turn for a goal could not be begun');
    const message = `The next turn towards the goal could not be begun: ${error instanceof Error ? error.message : String(error)}`;
    void this.#host.outbox.announce([{ method: 'warning', params: { threadId, message } }]);
  }

  /** From now on no turn is begun for the goal. */
  close(): void {
    this.#closed = true;
  }

  get #threadId(): string {
    return this.#host.record().id;
  }

  get #goal(): GoalRecord | null {
    return this.#host.record().goal;
  }

  #startOver(): void {
    this.#turnsAlone = 0;
    this.#idleTurns = 0;
  }

  /** Counts a turn that was begun for the goal; says why there should be no more. */
  #limitPassed(acted: boolean): string | null {
    this.#idleTurns = acted ? 0 : this.#idleTurns + 1;
    if (this.#idleTurns >= IDLE_GOAL_TURNS_MAX) return stopped(`the agent ended ${IDLE_GOAL_TURNS_MAX} turns without calling a tool`);
    return this.#turnsAlone >= GOAL_TURNS_MAX ? stopped(`the agent has taken ${GOAL_TURNS_MAX} turns by itself`) : null;
  }

  /** The goal with the running turn's time so far, and these tokens, on its account. */
  #counted(tokens = 0): GoalRecord | null {
    const { clock } = this.#host;
    const goal = this.#goal;
    const now = clock.monotonic();
    const ms = this.#turn === null ? 0 : Math.max(0, Math.round(now - this.#countedMs));
    this.#countedMs = now;
    return goal === null ? null : charged(goal, { tokens, ms, nowMs: clock.now() });
  }

  #now(): { threadId: string; nowMs: number } {
    return { threadId: this.#threadId, nowMs: this.#host.clock.now() };
  }

  async #change(goal: GoalRecord, turnId: string): Promise<ThreadGoal> {
    await this.#store({ goal }, turnId);
    return goalView(this.#threadId, goal);
  }

  /** With `turnId` it is announced too. A goal that could not be stored is taken back, unless it has changed again. */
  async #store(patch: ThreadPatch & { goal: GoalRecord | null }, turnId: string | null = null): Promise<void> {
    const { goal, preview } = this.#host.record();
    this.#host.keep(patch);
    try {
      await this.#host.outbox.commit({ patch, announce: turnId === null ? [] : [this.announcement(turnId)] });
    } catch (error) {
      if (this.#goal === patch.goal) this.#host.keep({ goal, preview });
      throw error;
    }
  }

  #step(
    before: ThreadGoal | null,
    { goal, turnId, warning = null }: { goal: GoalRecord | null; turnId: string; warning?: string | null },
  ): GoalStep {
    if (!this.available || goal === null || goal === this.#goal) return { patch: {}, announce: [] };
    this.#host.keep({ goal });
    const threadId = this.#threadId;
    const shown = JSON.stringify(this.current()) === JSON.stringify(before) ? [] : [this.announcement(turnId)];
    const warnings: Announcement[] = warning === null ? [] : [{ method: 'warning', params: { threadId, message: warning } }];
    return { patch: { goal }, announce: [...shown, ...warnings] };
  }
}

/** What a goal adds to a step of its turn. */
export type GoalStep = Required<Pick<Step, 'patch' | 'announce'>>;

const UNFINISHED = 'There is a goal that is not complete: it has to be, or to be cleared by the user, before there can be another.';

function stopped(why: string): string {
  return `The thread no longer works towards its goal by itself: ${why}. Set the goal to active to go on.`;
}
