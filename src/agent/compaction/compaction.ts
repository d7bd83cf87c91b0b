import { orAborted } from '../../base/or-aborted.ts';
import { isReviewMessage } from '../../instructions/review-message.ts';
import { cutMessage, summaryMessage } from '../../instructions/summary-message.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { ThreadItem, TokenUsageBreakdown, TurnError } from '../../protocol/generated/types.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import { estimatedTokens } from '../prompt/check-window.ts';
import { itemSize } from '../prompt/item-size.ts';
import type { Prompt } from '../prompt/ordered-prompt.ts';
import type { PromptState } from '../prompt/prompt-history.ts';
import { PromptItems } from '../prompt/prompt-items.ts';
import { cutMiddle } from '../prompt/without-bulk.ts';
import { mergedSteps, type Step, type StepAddition } from '../step.ts';
import { otherError } from '../turn/turn-deps.ts';
import { authored } from '../turn/turn-input.ts';
import type { DueTurn, TurnContext, TurnPart, TurnPartDeps } from '../turn/turn-part.ts';
import { type DividedPrompt, dividedPrompt, isConversation } from './divided-prompt.ts';
import { isOutage } from './is-outage.ts';
import { keptUserMessages, recentItems } from './kept-user-messages.ts';
import { lossOf, type Summary, summarize } from './summarize.ts';

/** A prompt that takes this part of the context window is compacted before the next request. */
const WINDOW_SHARE = 0.9;
/** After a model refused a prompt as too long, this part of its length is the limit. */
const REFUSED_SHARE = 0.8;
/** No model has a shorter window. The estimated length of a refused prompt can be less. */
const REFUSED_TOKENS_MIN = 4_096;
/** The same for the part of the bytes that are sent at most. */
const BYTES_SHARE = 0.5;
/** The user's messages, the summary and the latest items each take at most this part of the limit, but at least KEPT_TOKENS_MIN. */
const KEPT_SHARE = 0.25;
const KEPT_TOKENS_MIN = 1_000;
const KEPT_TOKENS_MAX = 20_000;
const CHARS_PER_TOKEN = 4;
/** How many times in one turn the model is asked again because its context window was exceeded. */
const RETRIES_MAX = 2;

/** Shorter prompts fit into every context window. */
const UNKNOWN_WINDOW_TOKENS_MAX = 4_000;

/** Why a thread is compacted: a client asked for it, the prompt is near its limit, or it was refused as too long. */
type Cause = 'requested' | 'limit' | 'exceeded';

interface Begun {
  turn: TurnContext;
  item: ThreadItem;
  startedAtMs: number;
}

/**
 * Compacts a thread: what the model has read so far is replaced by a summary and the user's own messages. The log keeps everything. If
 * there is no summary, the oldest part is cut instead, so that the thread can always go on.
 */
export class Compaction implements TurnPart {
  readonly #deps: TurnPartDeps;
  #isRequested = false;
  /** The model whose context window the provider was asked for. */
  #asked: string | null = null;
  /** Whether the last request was refused as too long. Null: not known since the thread was loaded. */
  #isExceeded: boolean | null = null;
  /** The length of the shortest prompt that this model has refused. */
  #refused: { model: string; tokens: number } | null = null;
  /** The running turn: its requests, and how often the model was asked again. */
  #turn = { id: '', requests: 0, retries: 0, tokens: 0 };

  constructor(deps: TurnPartDeps) {
    this.#deps = deps;
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
    const cause = await this.#cause(turn);
    if (cause !== null) await this.#compact(turn, cause);
    this.#turn.requests++;
    this.#turn.tokens = await this.#tokens();
    return {};
  }

  requestFailed(error: TurnError, turn: TurnContext): { again?: boolean } {
    if (error.codexErrorInfo !== 'contextWindowExceeded') return {};
    const { model } = turn.settings;
    const { tokens } = this.#turn;
    this.#isExceeded = true;
    if (this.#refused?.model !== model || tokens < this.#refused.tokens) this.#refused = { model, tokens };
    if (this.#turn.requests < 2 || this.#turn.retries >= RETRIES_MAX) return {};
    this.#turn.retries++;
    return { again: true };
  }

  /** A model that reads so many tokens did not refuse for the length. */
  tokensUsed({ settings }: TurnContext, { inputTokens }: TokenUsageBreakdown): StepAddition {
    if (this.#refused?.model === settings.model && inputTokens >= this.#refused.tokens) this.#refused = null;
    return {};
  }

  async endWork(): Promise<void> {
    this.#isRequested = false;
    this.#isExceeded = null;
    this.#refused = null;
  }

  async #open(turn: TurnContext): Promise<TurnError | null> {
    try {
      return await this.#compact(turn, 'requested');
    } finally {
      turn.steerRefusal = null;
      // Input that came meanwhile may have changed them, and nothing of it was answered yet.
      turn.settings = this.#deps.record().settings;
    }
  }

  /** Why the thread has to be compacted before the turn's next request; null: it need not be. */
  async #cause(turn: TurnContext): Promise<Cause | null> {
    const prompt = await this.#deps.history.prompt();
    if (prompt === null) return null;
    await this.#learnWindow(turn, prompt);
    this.#isExceeded ??= await this.#wasExceeded(turn);
    if (this.#isExceeded) return 'exceeded';
    const isLong = estimatedTokens(prompt, this.#lastUsage) >= this.#limit(turn);
    const isLarge = prompt.isShrunk || prompt.bytes >= this.#deps.promptBudget.promptBytesMax * BYTES_SHARE;
    // Input that the model has not answered yet cannot be summarized.
    return (isLong || isLarge) && prompt.tokensOfModel > 0 ? 'limit' : null;
  }

  /** Asks the provider, once, for the context window of a model that nothing is known about, when the thread has grown. */
  async #learnWindow({ settings: { model }, signal }: TurnContext, prompt: Prompt): Promise<void> {
    const configuration = this.#deps.configuration();
    if (this.#asked === model || configuration.contextWindow(model).isKnown) return;
    if (estimatedTokens(prompt, this.#lastUsage) < UNKNOWN_WINDOW_TOKENS_MAX) return;
    this.#asked = model;
    await orAborted(configuration.learnContextWindows(), signal);
  }

  /**
   * Whether the turn before this one, which another process may have run, failed because its prompt was too long. The prompt of a review is
   * not the thread's.
   */
  async #wasExceeded(turn: TurnContext): Promise<boolean> {
    const state = await this.#deps.history.state();
    const before = state?.read.findLast(({ turnId }) => turnId !== turn.id);
    if (before === undefined || isReviewMessage(before.item)) return false;
    return (await this.#deps.lastTurnError())?.codexErrorInfo === 'contextWindowExceeded';
  }

  async #tokens(): Promise<number> {
    const prompt = await this.#deps.history.prompt();
    return prompt === null ? 0 : estimatedTokens(prompt, this.#lastUsage);
  }

  get #lastUsage() {
    return this.#deps.record().tokenUsage?.usage.last ?? null;
  }

  /** The length of a prompt, in tokens, from which it is compacted. */
  #limit({ settings: { model } }: TurnContext): number {
    const { contextWindow, compactionLimit } = this.#deps.configuration();
    const limit = Math.min(compactionLimit ?? Number.POSITIVE_INFINITY, contextWindow(model).tokens * WINDOW_SHARE, this.#room(model));
    return Math.floor(limit);
  }

  /** How many tokens a request may have. */
  #room(model: string): number {
    const { tokens } = this.#deps.configuration().contextWindow(model);
    if (this.#refused?.model !== model) return tokens;
    return Math.min(tokens, Math.max(REFUSED_TOKENS_MIN, this.#refused.tokens * REFUSED_SHARE));
  }

  /** Compacts the thread. Returns the error if a client asked for it and it failed; the thread is then as it was. */
  async #compact(turn: TurnContext, cause: Cause): Promise<TurnError | null> {
    const { history, promptBudget } = this.#deps;
    const state = await history.state();
    if (state === null) return null;
    const parts = dividedPrompt(state, turn.id);
    const isEmpty = !(cause === 'exceeded' ? parts.body : parts.body.slice(state.replaced)).some(isConversation);
    if (cause !== 'requested' && (isEmpty || this.#isTailTooLong(turn, parts))) return null;
    const end = await promptBudget.requesting(history, turn.signal);
    try {
      const begun = await this.#begin(turn);
      return isEmpty ? await this.#completeEmpty(begun) : await this.#replace(begun, { state, parts, cause });
    } finally {
      end();
    }
  }

  /** Whether the turn's input alone exceeds the context window, so that a compaction would not help. */
  #isTailTooLong(turn: TurnContext, { tail }: DividedPrompt): boolean {
    const window = this.#deps.configuration().contextWindow(turn.settings.model);
    return window.isKnown && tail.reduce((sum, { item }) => sum + itemSize(item).tokens, 0) > window.tokens;
  }

  async #begin(turn: TurnContext): Promise<Begun> {
    const { threadId, clock, outbox } = this.#deps;
    const item: ThreadItem = { type: 'contextCompaction', id: this.#deps.ids.next() };
    const startedAtMs = clock.now();
    await outbox.commit({
      partial: { turnId: turn.id, item, startedAtMs, completedAtMs: null },
      announce: [{ method: 'item/started', params: { threadId, turnId: turn.id, item, startedAtMs } }],
    });
    return { turn, item, startedAtMs };
  }

  /** For a thread without anything to summarize. */
  async #completeEmpty(begun: Begun): Promise<null> {
    await this.#deps.outbox.commit(this.#completion(begun));
    return null;
  }

  async #replace(
    begun: Begun,
    { state, parts, cause }: { state: PromptState; parts: DividedPrompt; cause: Cause },
  ): Promise<TurnError | null> {
    const { turn } = begun;
    const { log, threadId } = this.#deps;
    const made = await this.#summary(turn, parts, cause);
    const summary = 'text' in made ? { ...made, isCut: made.isCut || state.isCut } : made;
    if (turn.signal.aborted) return null;
    if ('error' in summary) log.warn({ threadId, turnId: turn.id, error: summary.error?.message }, 'a thread could not be summarized');
    if ('error' in summary && cause === 'requested') return summary.error;
    if ('error' in summary && cause === 'limit' && isOutage(summary.error) && !this.#isTooLong(turn, state)) {
      await this.#giveUp(begun, summary.error);
      return null;
    }
    const isReplaced = await this.#commit(begun, {
      state,
      tail: parts.tail,
      items: this.#replacement(turn, parts, summary),
      warning: lossOf(summary),
    });
    if (isReplaced) this.#isExceeded = false;
    return isReplaced || turn.signal.aborted || cause !== 'requested' ? null : otherError('The history changed during the compaction.');
  }

  #summary(turn: TurnContext, { body }: DividedPrompt, cause: Cause): Promise<Summary> {
    const { threadId, clock, outbox } = this.#deps;
    const configuration = this.#deps.configuration();
    const { settings } = turn;
    const request = {
      model: settings.model,
      instructions: configuration.instructions.base(settings),
      tools: [],
      effort: settings.effort,
      summary: null,
      outputSchema: null,
      serviceTier: settings.serviceTier,
      verbosity: configuration.verbosity,
      promptCacheKey: threadId,
    };
    const room = this.#room(settings.model);
    const tokens = body.reduce((sum, { item }) => sum + itemSize(item).tokens, 0);
    return summarize(
      { model: configuration.model, clock, onUsage: (usage) => outbox.commit(this.#deps.tokensStep(turn, usage)) },
      { items: body, request, prompt: configuration.compactPrompt, room, isTooLong: cause === 'exceeded' || tokens > room },
      turn.signal,
    );
  }

  /** The messages that replace the body in the prompt, without the context. */
  #replacement(turn: TurnContext, { body }: DividedPrompt, summary: Summary): AuthoredItem[] {
    const tokensMax = Math.min(KEPT_TOKENS_MAX, Math.max(KEPT_TOKENS_MIN, Math.floor(this.#limit(turn) * KEPT_SHARE)));
    if ('text' in summary) {
      const text = cutMiddle(summary.text, tokensMax * CHARS_PER_TOKEN);
      return [...keptUserMessages(body, tokensMax), ...authored('server', [summaryMessage(text, summary)])];
    }
    const { recent, older } = recentItems(body, tokensMax);
    return [...keptUserMessages(body.slice(0, older), tokensMax), ...authored('server', [cutMessage()]), ...recent];
  }

  /** Leaves the thread as it is. The compaction is tried again before the next request. */
  async #giveUp({ turn, item, startedAtMs }: Begun, error: TurnError | null): Promise<void> {
    await this.#deps.outbox.commit({
      dropped: [{ turnId: turn.id, item, startedAtMs, completedAtMs: null }],
      announce: this.#warnings(
        `The thread is near its limit and could not be summarized; it stays as it is for now. ${error?.message ?? ''}`,
      ),
    });
  }

  #warnings(message: string | null): Announcement[] {
    return message === null ? [] : [{ method: 'warning', params: { threadId: this.#deps.threadId, message } }];
  }

  #isTooLong({ settings: { model } }: TurnContext, { prompt }: PromptState): boolean {
    const window = this.#deps.configuration().contextWindow(model);
    return window.isKnown && estimatedTokens(prompt, this.#lastUsage) > window.tokens;
  }

  /** Stores and announces the compaction. Returns false if the turn was interrupted or the history has changed in other ways. */
  async #commit(
    begun: Begun,
    { state, tail, items, warning }: { state: PromptState; tail: AuthoredItem[]; items: AuthoredItem[]; warning: string | null },
  ): Promise<boolean> {
    const { turn } = begun;
    const { outbox, clock, granted } = this.#deps;
    const { instructions } = this.#deps.configuration();
    const context = await instructions.contextUpdate({ settings: turn.settings, granted: granted(), told: null, now: clock.now() });
    return outbox.commitMade(() => {
      const added = turn.signal.aborted ? null : state.addedSince();
      if (added === null) return null;
      const read = [...authored('context', context.messages), ...this.#deps.compacted(turn), ...items, ...tail, ...added];
      const entry = { items: read.map(({ item }) => item), authors: read.map(({ author }) => author) };
      const prompt = new PromptItems();
      prompt.begin(entry.items);
      const usage = this.#deps.promptStep(turn, prompt.tokens);
      const patch = { told: context.told };
      this.#deps.keep(patch);
      return mergedSteps([
        { entries: [{ kind: 'compacted', turnId: turn.id, ...entry }], patch, announce: this.#warnings(warning) },
        usage,
        this.#completion(begun),
      ]);
    });
  }

  #completion({ turn, item, startedAtMs }: Begun): Step {
    const { threadId, clock } = this.#deps;
    const completedAtMs = clock.now();
    return {
      entries: [{ kind: 'item', turnId: turn.id, item, startedAtMs, completedAtMs }],
      announce: [
        { method: 'item/completed', params: { threadId, turnId: turn.id, item, completedAtMs } },
        { method: 'thread/compacted', params: { threadId, turnId: turn.id } },
      ],
    };
  }
}
