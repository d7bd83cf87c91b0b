import type { Announcement } from '../protocol/announcement.ts';
import type { ThreadTokenUsage, TokenUsageBreakdown } from '../protocol/generated/types.ts';
import type { ThreadRecord } from '../store/thread-record.ts';
import { type AgentsUsage, usageWithAgents } from './lineage/agents-usage.ts';
import { mergedSteps, type Step, type StepAddition } from './outbox/step.ts';
import { addUsage } from './prompt/add-usage.ts';
import type { LastUsage } from './prompt/check-window.ts';
import type { ThreadState } from './thread-state.ts';
import type { TurnContext } from './turn/turn-part.ts';
import type { TurnParts } from './turn/turn-parts.ts';

type UsageStep = Required<Pick<Step, 'patch' | 'announce'>>;

const NO_USAGE: TokenUsageBreakdown = {
  totalTokens: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
};

/**
 * The token usage of a loaded thread. Its methods change the record at once, and return the step
 * that stores and announces the change.
 */
export class ThreadUsage {
  readonly #state: ThreadState;
  readonly #agents: Pick<AgentsUsage, 'used' | 'below'>;
  readonly #parts: Pick<TurnParts, 'step'>;
  /**
   * Whether the provider told no usage for the thread's last response, so that the last one that it
   * told says nothing about the prompt.
   */
  #isUncounted = false;
  /**
   * The part of the prompt that the last usage counts; null: all up to the last item that the model
   * made.
   */
  #promptTokens: number | null = null;
  /**
   * The provider's last count, while the usage in the record, `shown`, stands for more than that.
   * Null: it does not.
   */
  #counted: { shown: ThreadRecord['tokenUsage']; last: TokenUsageBreakdown } | null = null;

  constructor(
    state: ThreadState,
    agents: Pick<AgentsUsage, 'used' | 'below'>,
    parts: Pick<TurnParts, 'step'>,
  ) {
    this.#state = state;
    this.#agents = agents;
    this.#parts = parts;
  }

  /**
   * The tokens that the provider counted for the thread's last response; null: unknown, as after a
   * compaction.
   */
  get last(): LastUsage | null {
    const last = this.#lastCounted;
    return last === null || this.#isUncounted || last.inputTokens === 0
      ? null
      : { ...last, promptTokens: this.#promptTokens };
  }

  get #lastCounted(): TokenUsageBreakdown | null {
    return this.#held ?? this.#state.record.tokenUsage?.usage.last ?? null;
  }

  get #held(): TokenUsageBreakdown | null {
    const isCurrent = this.#counted?.shown === this.#state.record.tokenUsage;
    return (isCurrent && this.#counted?.last) || null;
  }

  /**
   * The model is asked. Unless its response is counted, the last usage counts only what the model
   * had made before: so many tokens.
   */
  noteRequest(tokensOfModel: number): void {
    this.#promptTokens ??= tokensOfModel;
  }

  /**
   * Adds the usage of a response in a turn. Null: the provider did not tell it, and there is
   * nothing to store.
   */
  answered(turn: TurnContext, used: TokenUsageBreakdown | null): StepAddition | null {
    const isAside = turn.kind === 'review';
    if (used !== null) return this.#added(turn, used, isAside);
    if (!isAside) this.#isUncounted = true;
    return null;
  }

  /** Adds the usage of a request aside, which did not read the thread's history. */
  aside(turn: TurnContext, used: TokenUsageBreakdown): StepAddition {
    return this.#added(turn, used, true);
  }

  /** Notes how long the thread's prompt has become by a compaction, which is counted. */
  compacted(turn: TurnContext, totalTokens: number): UsageStep {
    return this.#lengthStep(turn, { totalTokens, compactions: 1 });
  }

  /**
   * Notes that the prompt is longer than the model can read. What the provider counted last still
   * counts for the server.
   */
  exceeded(turn: TurnContext): UsageStep {
    const counted = this.#lastCounted;
    const step = this.#lengthStep(turn, {
      totalTokens: this.#state.configuration.prompt.contextWindow(turn.settings.model).tokens,
      compactions: 0,
    });
    this.#hold(counted);
    return step;
  }

  /** The announcement of the usage as it is; null: the thread has used nothing. */
  announcement(): Announcement | null {
    const { record } = this.#state;
    if (record.tokenUsage === null) return null;
    return this.#announcementOf(record.tokenUsage);
  }

  #announcementOf({ turnId, usage }: NonNullable<ThreadRecord['tokenUsage']>): Announcement {
    const { id: threadId } = this.#state;
    const tokenUsage = usageWithAgents(usage, this.#agents.below(threadId));
    return { method: 'thread/tokenUsage/updated', params: { threadId, turnId, tokenUsage } };
  }

  /** The last usage of a thread is that of its own last request, not of one aside. */
  #added(turn: TurnContext, used: TokenUsageBreakdown, isAside: boolean): StepAddition {
    this.#agents.used(this.#state.id, used);
    if (!isAside) {
      this.#isUncounted = false;
      this.#promptTokens = null;
    }
    const before = this.#state.record.tokenUsage?.usage ?? null;
    const held = isAside ? this.#held : null;
    const counted = {
      total: addUsage(before?.total ?? null, used),
      last: isAside ? (before?.last ?? NO_USAGE) : used,
    };
    const model = isAside ? this.#state.settings.model : turn.settings.model;
    const step = this.#step(turn.id, counted, model);
    this.#hold(held);
    return mergedSteps([step, this.#parts.step('tokensUsed', turn, used)]);
  }

  #hold(last: TokenUsageBreakdown | null): void {
    this.#counted = last && { shown: this.#state.record.tokenUsage, last };
  }

  #lengthStep(
    turn: TurnContext,
    { totalTokens, compactions }: { totalTokens: number; compactions: 0 | 1 },
  ): UsageStep {
    const counted = {
      total: this.#state.record.tokenUsage?.usage.total ?? NO_USAGE,
      last: { ...NO_USAGE, totalTokens },
    };
    return this.#step(turn.id, counted, turn.settings.model, compactions);
  }

  #step(
    turnId: string,
    counted: Pick<ThreadTokenUsage, 'total' | 'last'>,
    model: string,
    compacted: 0 | 1 = 0,
  ): UsageStep {
    const state = this.#state;
    const usage = {
      ...counted,
      modelContextWindow: state.configuration.prompt.contextWindow(model).tokens,
    };
    const compactions = (state.record.tokenUsage?.compactions ?? 0) + compacted;
    const tokenUsage = { turnId, usage, ...(compactions > 0 && { compactions }) };
    state.keep({ tokenUsage });
    this.#hold(null);
    return { patch: { tokenUsage }, announce: [this.#announcementOf(tokenUsage)] };
  }
}
