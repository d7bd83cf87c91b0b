import type { TokenUsageBreakdown, TurnError } from '../../protocol/generated/types.ts';
import { authorOf } from '../../rollout/author-of.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import type { ThreadRecord } from '../../store/thread-record.ts';
import { otherError } from '../loop/running-turn.ts';
import { mergedSteps, type StepAddition } from '../outbox/step.ts';
import { toldAfterCompaction } from '../prompt/additional-context.ts';
import type { PromptState } from '../prompt/prompt-history.ts';
import { PromptItems } from '../prompt/prompt-items.ts';
import type { ThreadContext } from '../thread-context.ts';
import { authored } from '../turn/turn-input.ts';
import type { DueTurn, EndedResponse, TurnContext, TurnPart } from '../turn/turn-part.ts';
import { CompactionItem, warnings } from './compaction-item.ts';
import { type Cause, CompactionSummary, tokensOf } from './compaction-summary.ts';
import { type DividedPrompt, dividedPrompt, isConversation, toldAgain } from './divided-prompt.ts';
import { interruptedByPart } from './interrupted-by-part.ts';
import { isOutage } from './is-outage.ts';
import { PromptLimit } from './prompt-limit.ts';
import { lossOf, withReason } from './summarize.ts';
import { wasExceeded } from './was-exceeded.ts';

/** How many times in one turn the model is asked again because its context window was exceeded. */
const RETRIES_MAX = 2;

/**
 * The result of a compaction. If nothing was replaced: the error if a client asked for it, and a
 * warning for clients.
 */
type Outcome =
  | { isCompacted: true }
  | { isCompacted: false; error: TurnError | null; warning: string | null };

/**
 * Compacts a thread: what the model has read so far is replaced by a summary and the user's own
 * messages. The log keeps everything. If there is no summary and the prompt does not fit, the
 * oldest part is cut instead, so that the thread can always go on.
 */
export class Compaction implements TurnPart {
  readonly #thread: ThreadContext;
  readonly #limit: PromptLimit;
  readonly #summary: CompactionSummary;
  #isRequested = false;
  /**
   * Whether the last request was refused as too long. Null: not known since the thread was loaded.
   */
  #isExceeded: boolean | null = null;
  /**
   * The running turn: its requests, how often the model was asked again, and the length of its last
   * prompt.
   */
  #turn = { id: '', requests: 0, retries: 0, tokens: 0 };

  constructor(thread: ThreadContext) {
    this.#thread = thread;
    this.#limit = new PromptLimit(thread);
    this.#summary = new CompactionSummary(thread, this.#limit);
  }

  /** Makes a turn due that compacts the thread. */
  request(): void {
    this.#isRequested = true;
  }

  due(): DueTurn | null {
    if (!this.#isRequested) return null;
    this.#isRequested = false;
    return { kind: 'compact', tell: [], opening: (turn) => this.#open(turn) };
  }

  async beforeRequest(turn: TurnContext): Promise<Record<string, never>> {
    if (this.#turn.id !== turn.id) this.#turn = { id: turn.id, requests: 0, retries: 0, tokens: 0 };
    // An interrupt ends the wait for this work, and the next turn may begin meanwhile.
    const own = this.#turn;
    const cause = await this.#cause(turn);
    if (cause !== null) await this.#compact(turn, cause);
    own.requests++;
    own.tokens = await this.#tokens();
    return {};
  }

  requestEnded({ error }: EndedResponse, turn: TurnContext): { again?: true } {
    if (error?.codexErrorInfo !== 'contextWindowExceeded') return {};
    this.#isExceeded = true;
    this.#limit.refused(turn.settings.model, this.#turn.tokens);
    if (this.#turn.requests < 2 || this.#turn.retries >= RETRIES_MAX) return {};
    this.#turn.retries++;
    return { again: true };
  }

  tokensUsed(turn: TurnContext | null, { inputTokens }: TokenUsageBreakdown): StepAddition {
    if (turn !== null) this.#limit.read(turn.settings.model, inputTokens);
    return {};
  }

  async endWork(): Promise<void> {
    this.#isRequested = false;
    this.#isExceeded = null;
    this.#limit.forget();
  }

  async #open(turn: TurnContext): Promise<TurnError | null> {
    try {
      return await this.#compact(turn, 'requested');
    } finally {
      turn.steerRefusal = null;
    }
  }

  /** Why the thread has to be compacted before the turn's next request; null: it need not be. */
  async #cause(turn: TurnContext): Promise<Cause | null> {
    const prompt = await this.#thread.history.prompt();
    if (prompt === null) return null;
    const short = await this.#limit.learnWindow(turn, prompt);
    if (short !== null) await this.#thread.outbox.announce(warnings(this.#thread.id, short));
    this.#isExceeded ??= await wasExceeded(this.#thread, turn);
    if (this.#isExceeded) return 'exceeded';
    const { isReached, warning } = this.#limit.reached(turn, prompt);
    if (warning !== null) await this.#thread.outbox.announce(warnings(this.#thread.id, warning));
    // Input that the model has not answered yet cannot be summarized.
    return isReached && prompt.tokensOfModel > 0 ? 'limit' : null;
  }

  async #tokens(): Promise<number> {
    const prompt = await this.#thread.history.prompt();
    return prompt === null ? 0 : this.#limit.tokens(prompt);
  }

  /**
   * Compacts the thread. Returns the error if a client asked for it and it failed; the thread is
   * then as it was.
   */
  async #compact(turn: TurnContext, cause: Cause): Promise<TurnError | null> {
    const { history } = this.#thread;
    const { promptBudget } = this.#thread.services.limits;
    const state = await history.state();
    if (state === null) return null;
    const parts = dividedPrompt(state, turn.id);
    const isEmpty = !(cause === 'exceeded' ? parts.body : parts.body.slice(state.replaced)).some(
      isConversation,
    );
    if (cause !== 'requested' && (isEmpty || this.#isTailTooLong(turn, parts))) return null;
    const trigger = cause === 'requested' ? 'manual' : 'auto';
    if (await interruptedByPart(this.#thread, 'compacting', { trigger, turn })) return null;
    const end = await promptBudget.requesting(history, turn.signal);
    try {
      if (turn.signal.aborted) return null;
      const begun = await CompactionItem.begin(this.#thread, turn);
      const outcome = isEmpty
        ? await this.#completeEmpty(begun)
        : await this.#replace(begun, { state, parts, cause });
      if (outcome.isCompacted) {
        await interruptedByPart(this.#thread, 'compacted', { trigger, turn });
        return null;
      }
      // The end of an interrupted turn removes its unfinished items.
      if (!turn.signal.aborted) await begun.drop(outcome.warning);
      return outcome.error;
    } finally {
      end();
    }
  }

  /**
   * Whether the turn's input alone exceeds the context window, so that a compaction would not help.
   */
  #isTailTooLong({ settings: { model } }: TurnContext, { tail }: DividedPrompt): boolean {
    return this.#limit.isTooLong(model, tokensOf(tail));
  }

  /** For a thread without anything to summarize. */
  async #completeEmpty(begun: CompactionItem): Promise<Outcome> {
    await this.#thread.outbox.commit(begun.completion());
    return { isCompacted: true };
  }

  async #replace(
    begun: CompactionItem,
    { state, parts, cause }: { state: PromptState; parts: DividedPrompt; cause: Cause },
  ): Promise<Outcome> {
    const { turn } = begun;
    const { id: threadId } = this.#thread;
    const { log } = this.#thread.services.runtime;
    const made = await this.#summary.make(turn, parts, cause);
    const summary = 'text' in made ? { ...made, isCut: made.isCut || state.isCut } : made;
    if (turn.signal.aborted) return UNCHANGED;
    if ('error' in summary) {
      log.warn(
        { threadId, turnId: turn.id, error: summary.error?.message },
        'a thread could not be summarized',
      );
      if (cause === 'requested') return { ...UNCHANGED, error: summary.error };
      if (
        isOutage(summary.error) ||
        (cause === 'limit' &&
          !this.#limit.hasToBeCut(turn.settings.model, state.prompt, summary.error))
      ) {
        this.#limit.failed(turn, state.prompt);
        return { ...UNCHANGED, warning: keptWarning(summary.error) };
      }
    }
    const items = this.#summary.replacement(turn, parts, summary);
    const isReplaced = await this.#commit(begun, {
      state,
      tail: parts.tail,
      items,
      warning: lossOf(summary),
    });
    if (isReplaced) {
      this.#isExceeded = false;
      this.#limit.compacted();
      return { isCompacted: true };
    }
    if (cause !== 'requested' || turn.signal.aborted) return UNCHANGED;
    return {
      ...UNCHANGED,
      error: otherError('The history changed during the compaction. Compact the thread again.'),
    };
  }

  /**
   * Stores and announces the compaction. Returns false if the turn was interrupted or the history
   * has changed in other ways.
   */
  async #commit(
    begun: CompactionItem,
    {
      state,
      tail,
      items,
      warning,
    }: { state: PromptState; tail: AuthoredItem[]; items: AuthoredItem[]; warning: string | null },
  ): Promise<boolean> {
    const { turn } = begun;
    const { state: own, outbox, grants, parts, usage, services } = this.#thread;
    const { instructions } = own.configuration;
    const context = await instructions.contextUpdate({
      settings: turn.settings,
      granted: grants.permissions,
      told: null,
      now: services.runtime.clock.now(),
    });
    let before: Pick<ThreadRecord, 'told' | 'tokenUsage'> | null = null;
    try {
      return await outbox.commitMade(() => {
        const added = turn.signal.aborted ? null : state.addedSince();
        if (added === null) return null;
        const { told, tokenUsage } = own.record;
        before = { told, tokenUsage };
        const isToldAgain = toldAgain(context.messages);
        const input = [...tail, ...added].filter(
          (each) => authorOf(each) !== 'context' || !isToldAgain(each.item),
        );
        const read = [
          ...authored('context', context.messages),
          ...parts.each('readAgain', turn).flat(),
          ...items,
          ...input,
        ];
        const entry = {
          items: read.map(({ item }) => item),
          authors: read.map(({ author }) => author),
        };
        const prompt = new PromptItems();
        prompt.begin(entry.items);
        const length = usage.compacted(turn, prompt.tokens);
        const patch = { told: toldAfterCompaction(context.told, { before: told, prompt: read }) };
        own.keep(patch);
        return mergedSteps([
          {
            entries: [{ kind: 'compacted', turnId: turn.id, ...entry }],
            patch,
            announce: warnings(this.#thread.id, warning),
          },
          length,
          begun.completion(),
        ]);
      });
    } catch (error) {
      // The prompt is still the long one, and the model was told nothing.
      if (before !== null) own.keep(before);
      throw error;
    }
  }
}

const UNCHANGED = { isCompacted: false, error: null, warning: null } as const;

function keptWarning(error: TurnError | null): string {
  return withReason(
    'The thread is near its limit and could not be summarized; it does not change for now.',
    error,
  );
}
