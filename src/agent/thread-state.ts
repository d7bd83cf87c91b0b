import type {
  ThreadActiveFlag,
  ThreadStatus,
  ThreadTokenUsage,
  TokenUsageBreakdown,
} from '../protocol/generated/types.ts';
import type { ThreadPatch, ThreadRecord, ThreadSettings } from '../store/thread-record.ts';
import type { Step } from './outbox/step.ts';
import { addUsage } from './prompt/add-usage.ts';
import type { LastUsage } from './prompt/check-window.ts';
import type { ThreadConfiguration } from './settings/thread-configuration.ts';
import type { AgentTree } from './sub-agents/agent-tree.ts';
import { usageWithAgents } from './sub-agents/agents-usage.ts';
import type { ActiveTurn } from './turn/active-turn.ts';
import type { TurnContext } from './turn/turn-part.ts';

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
 * The state of a loaded thread in memory. Its collaborators share it, and must not await within a
 * change.
 */
export class ThreadState {
  record: ThreadRecord;
  configuration: ThreadConfiguration;
  status: 'idle' | 'active' | 'systemError' = 'idle';
  /** The running turn; null between turns. */
  turn: ActiveTurn | null = null;
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
  /** The provider's last count, if the usage of the record stands for more than that; else null. */
  #counted: TokenUsageBreakdown | null = null;
  /** How many questions of each kind are open. */
  readonly #waiting = new Map<ThreadActiveFlag, number>();
  readonly #agents: AgentTree['usage'];

  constructor(
    record: ThreadRecord,
    configuration: ThreadConfiguration,
    agents: AgentTree['usage'],
  ) {
    this.#agents = agents;
    this.record = record;
    this.configuration = configuration;
  }

  get id(): string {
    return this.record.id;
  }

  get settings(): ThreadSettings {
    return this.record.settings;
  }

  /**
   * The tokens that the provider counted for the thread's last response; null: unknown, as after a
   * compaction.
   */
  get lastUsage(): LastUsage | null {
    const last = this.#lastCounted;
    return last === null || this.#isUncounted || last.inputTokens === 0
      ? null
      : { ...last, promptTokens: this.#promptTokens };
  }

  get #lastCounted(): TokenUsageBreakdown | null {
    return this.#counted ?? this.record.tokenUsage?.usage.last ?? null;
  }

  /**
   * The model is asked. Unless its response is counted, the last usage counts only what the model
   * had made before: so many tokens.
   */
  noteRequest(tokensOfModel: number): void {
    this.#promptTokens ??= tokensOfModel;
  }

  /** The status as clients see it: a turn is active until its end has been announced. */
  get shownStatus(): ThreadStatus {
    return this.#shown(this.turn === null ? this.status : 'active');
  }

  /**
   * Counts a question that is asked (1) or settled (-1). Returns whether the status that clients
   * see has changed.
   */
  wait(flag: ThreadActiveFlag, by: 1 | -1): boolean {
    const count = (this.#waiting.get(flag) ?? 0) + by;
    if (count === 0) this.#waiting.delete(flag);
    else this.#waiting.set(flag, count);
    return count === 0 || (count === 1 && by === 1);
  }

  keep(patch: ThreadPatch): void {
    this.record = { ...this.record, ...patch };
    if (patch.tokenUsage !== undefined) this.#counted = null;
  }

  /** Changes the status at once, and returns the step that stores and announces it. */
  statusStep(
    status: ThreadState['status'],
    nowMs: number,
  ): Pick<Step, 'patch'> & Required<Pick<Step, 'announce'>> {
    this.status = status;
    this.keep({ updatedAtMs: nowMs });
    return {
      ...(status === 'active' ? {} : { patch: { updatedAtMs: nowMs } }),
      announce: [
        {
          method: 'thread/status/changed',
          params: { threadId: this.id, status: this.#shown(status) },
        },
      ],
    };
  }

  #shown(status: ThreadState['status']): ThreadStatus {
    return status === 'active'
      ? { type: 'active', activeFlags: [...this.#waiting.keys()] }
      : { type: status };
  }

  /**
   * Adds to the thread's token usage at once, and returns the step that stores and announces it.
   * `isAside`: the request did not read the thread's history, so the last usage stays that of the
   * thread's own last request.
   */
  tokensStep(
    turn: TurnContext,
    used: TokenUsageBreakdown,
    { isAside }: { isAside: boolean },
  ): UsageStep {
    this.#agents.used(this.id, used);
    if (!isAside) {
      this.#isUncounted = false;
      this.#promptTokens = null;
    }
    const before = this.record.tokenUsage?.usage ?? null;
    const held = isAside ? this.#counted : null;
    const counted = {
      total: addUsage(before?.total ?? null, used),
      last: isAside ? (before?.last ?? NO_USAGE) : used,
    };
    const step = this.#usageStep(
      turn.id,
      counted,
      isAside ? this.settings.model : turn.settings.model,
    );
    this.#counted = held;
    return step;
  }

  /** Notes at once that a response has come whose usage is unknown. */
  noteUncounted(): void {
    this.#isUncounted = true;
  }

  /**
   * Notes at once how long the thread's prompt has become by a compaction, which is counted.
   * Returns the step that stores and announces it.
   */
  promptStep(turn: TurnContext, totalTokens: number): UsageStep {
    return this.#lengthStep(turn, { totalTokens, compactions: 1 });
  }

  /**
   * Returns the step that stores and announces that the prompt is longer than the model can read.
   * What the provider counted last still counts for the server.
   */
  exceededStep(turn: TurnContext): UsageStep {
    const counted = this.#lastCounted;
    const step = this.#lengthStep(turn, {
      totalTokens: this.configuration.contextWindow(turn.settings.model).tokens,
      compactions: 0,
    });
    this.#counted = counted;
    return step;
  }

  #lengthStep(
    turn: TurnContext,
    { totalTokens, compactions }: { totalTokens: number; compactions: 0 | 1 },
  ): UsageStep {
    const counted = {
      total: this.record.tokenUsage?.usage.total ?? NO_USAGE,
      last: { ...NO_USAGE, totalTokens },
    };
    return this.#usageStep(turn.id, counted, turn.settings.model, compactions);
  }

  #usageStep(
    turnId: string,
    counted: Pick<ThreadTokenUsage, 'total' | 'last'>,
    model: string,
    compacted: 0 | 1 = 0,
  ): UsageStep {
    const usage = {
      ...counted,
      modelContextWindow: this.configuration.contextWindow(model).tokens,
    };
    const compactions = (this.record.tokenUsage?.compactions ?? 0) + compacted;
    const patch: ThreadPatch = {
      tokenUsage: { turnId, usage, ...(compactions > 0 && { compactions }) },
    };
    this.keep(patch);
    const tokenUsage = usageWithAgents(usage, this.#agents.below(this.id));
    return {
      patch,
      announce: [
        { method: 'thread/tokenUsage/updated', params: { threadId: this.id, turnId, tokenUsage } },
      ],
    };
  }
}
