import { orAborted } from '../../base/or-aborted.ts';
import type { TurnError } from '../../protocol/generated/types.ts';
import { estimatedTokens } from '../prompt/check-window.ts';
import type { Prompt } from '../prompt/ordered-prompt.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { TurnContext } from '../turn/turn-part.ts';

/** A prompt that takes this part of the context window is compacted before the next request. */
const WINDOW_SHARE = 0.9;
/** A prompt that takes this part of the bytes that are sent at most is compacted too. */
const BYTES_SHARE = 0.5;
/** After a model refused a prompt as too long, this part of its length is the limit. */
const REFUSED_SHARE = 0.8;
/** No model has a shorter window. The estimated length of a refused prompt can be less. */
export const REFUSED_TOKENS_MIN = 4_096;
/** Shorter prompts fit into every context window. */
const UNKNOWN_WINDOW_TOKENS_MAX = 4_000;
/**
 * The provider is asked again for an unknown window when the prompt has become so many times as
 * long.
 */
const ASK_AGAIN_FACTOR = 4;
/**
 * After a compaction that did not help, or failed, the next one waits until the prompt has grown by
 * this part of the limit.
 */
const GROWTH_SHARE = 0.25;
const GROWTH_TOKENS_MIN = 1_000;

/**
 * After so many compactions of a turn that made no room, a prompt that is longer than the window is
 * not compacted again: its turn fails.
 */
const VAIN_MAX = 3;

/**
 * How long the prompts of a thread may become: what is configured, what is known of the model, and
 * what it has refused.
 */
export class PromptLimit {
  readonly #thread: ThreadContext;
  /**
   * The model whose context window the provider was asked for, and the length of the prompt then.
   */
  #asked: { model: string; tokens: number } | null = null;
  /** The last warning about a short context window. */
  #told: string | null = null;
  /** The length of the shortest prompt that this model has refused. */
  #refused: { model: string; tokens: number } | null = null;
  /** Shorter prompts are not compacted at the limit: in this turn; null: in any. */
  #pause: { turnId: string | null; tokens: number } | null = null;
  /**
   * The provider's count for the first response after the prompt began or was compacted: its
   * prefix. `begun`: there is no such response so far. Null: not known, because the thread was
   * loaded with a response.
   */
  #prefix: number | 'begun' | null = null;
  /** How many compactions in a row made no room for a turn. */
  #vain = { turnId: '', count: 0 };
  /** Whether no response since the last compaction has shown how long the prompt still is. */
  #isUnproven = false;

  constructor(thread: ThreadContext) {
    this.#thread = thread;
  }

  /** The approximate length of the next request, in tokens. */
  tokens(prompt: Prompt): number {
    return estimatedTokens(prompt, this.#thread.usage.last);
  }

  /** The length of a prompt, in tokens, from which it is compacted. */
  limit(model: string): number {
    const { contextWindow, compactionLimit, limitsBody } = this.#thread.state.configuration;
    const configured = limitsBody ? null : compactionLimit;
    const limit = Math.min(
      configured ?? Number.POSITIVE_INFINITY,
      contextWindow(model).tokens * WINDOW_SHARE,
      this.room(model),
    );
    return Math.floor(limit);
  }

  /** How many tokens a request may have. */
  room(model: string): number {
    const { tokens } = this.#thread.state.configuration.contextWindow(model);
    if (this.#refused?.model !== model) return tokens;
    return Math.min(tokens, Math.max(REFUSED_TOKENS_MIN, this.#refused.tokens * REFUSED_SHARE));
  }

  /** Whether so many tokens are known to be more than the model can read. */
  isTooLong(model: string, tokens: number): boolean {
    const window = this.#thread.state.configuration.contextWindow(model);
    return window.isKnown && tokens > window.tokens;
  }

  /**
   * Whether a prompt without a summary cannot be sent as it is: it does not fit, or the model has
   * just refused to read it.
   */
  hasToBeCut(model: string, prompt: Prompt, error: TurnError | null): boolean {
    return (
      error?.codexErrorInfo === 'contextWindowExceeded' ||
      this.isTooLong(model, this.tokens(prompt))
    );
  }

  /**
   * Whether a prompt is to be compacted now. `warning`: for clients, once, if compactions do not
   * help.
   */
  reached(
    { id, settings: { model } }: TurnContext,
    prompt: Prompt,
  ): { isReached: boolean; warning: string | null } {
    const limit = this.limit(model);
    const warning = this.#prove(prompt, limit);
    if (this.#vain.turnId !== id) this.#vain = { turnId: id, count: 0 };
    this.#learnPrefix(prompt);
    const tokens = this.tokens(prompt);
    const isLarge =
      prompt.isShrunk ||
      prompt.bytes >= this.#thread.services.limits.promptBudget.promptBytesMax * BYTES_SHARE;
    const isPaused =
      this.#pause !== null && (this.#pause.turnId ?? id) === id && tokens < this.#pause.tokens;
    const isTooLong = this.isTooLong(model, tokens);
    const mayHelp = isTooLong ? this.#vain.count < VAIN_MAX : !isPaused;
    return {
      isReached: (tokens >= limit || isLarge || this.#isBodyLong(prompt)) && mayHelp,
      warning,
    };
  }

  #isBodyLong(prompt: Prompt): boolean {
    const { compactionLimit, limitsBody } = this.#thread.state.configuration;
    if (!limitsBody || compactionLimit === null) return false;
    const isCounted = typeof this.#prefix === 'number' && this.#thread.usage.last !== null;
    const body = isCounted
      ? this.tokens(prompt) - Number(this.#prefix)
      : prompt.tokens - prompt.tokensOfPrefix;
    return body >= compactionLimit;
  }

  #learnPrefix({ tokensOfModel }: Prompt): void {
    const last = this.#thread.usage.last;
    if (tokensOfModel === 0) this.#prefix = 'begun';
    else if (this.#prefix === 'begun') this.#prefix = last?.inputTokens ?? null;
  }

  /** The prompt was replaced by a shorter one. */
  compacted(): void {
    this.#isUnproven = true;
    this.#pause = null;
    this.#prefix = 'begun';
  }

  /**
   * A compaction has failed, and the prompt stays as it is. In this turn, it is not tried again for
   * each request.
   */
  failed({ id, settings: { model } }: TurnContext, prompt: Prompt): void {
    this.#pause = { turnId: id, tokens: this.tokens(prompt) + this.#growth(this.limit(model)) };
  }

  /**
   * The model has refused a prompt of so many tokens as too long; 0: it was too large to be sent,
   * and nothing was refused.
   */
  refused(model: string, tokens: number): void {
    if (tokens > 0 && (this.#refused?.model !== model || tokens < this.#refused.tokens))
      this.#refused = { model, tokens };
  }

  /**
   * The model has read so many tokens. If it refused no more than that before, it was not for the
   * length.
   */
  read(model: string, tokens: number): void {
    if (this.#refused?.model === model && tokens >= this.#refused.tokens) this.#refused = null;
  }

  forget(): void {
    this.#refused = null;
    this.#pause = null;
    this.#isUnproven = false;
    this.#prefix = null;
  }

  /**
   * Asks the provider for the context window of a model that nothing is known about, when the
   * thread has grown. A program on the user's machine is asked before each request: it may have
   * loaded the model anew, with another window. Resolves with a warning for clients if the window
   * is short and no warning has said so, else null.
   */
  async learnWindow(
    { settings: { model }, signal }: TurnContext,
    prompt: Prompt,
  ): Promise<string | null> {
    const configuration = this.#thread.state.configuration;
    const { isKnown, mayChange } = configuration.contextWindow(model);
    if (isKnown && !mayChange) return null;
    const tokens = this.tokens(prompt);
    const asked = this.#asked?.model === model && !mayChange ? this.#asked : null;
    if (tokens < (asked === null ? UNKNOWN_WINDOW_TOKENS_MAX : asked.tokens * ASK_AGAIN_FACTOR))
      return null;
    this.#asked = { model, tokens };
    const warning = await orAborted(configuration.learnContextWindow(model), signal);
    if (warning === null || warning === this.#told) return null;
    this.#told = warning;
    return warning;
  }

  /**
   * After the first response since a compaction: if the prompt is still over the limit, the next
   * compaction waits until it has grown.
   */
  #prove({ tokensOfModel }: Prompt, limit: number): string | null {
    if (!this.#isUnproven || tokensOfModel === 0) return null;
    this.#isUnproven = false;
    const read = this.#thread.usage.last?.inputTokens ?? tokensOfModel;
    if (read < limit) {
      this.#vain.count = 0;
      return null;
    }
    this.#vain.count++;
    this.#pause = { turnId: null, tokens: read + this.#growth(limit) };
    const about = `Compactions hardly shorten this thread: the model still reads ${read} tokens, and the limit is ${limit}.`;
    return `${about} Instructions, tools and context stay as they are. Raise model_auto_compact_token_limit, or use a model that reads more.`;
  }

  #growth(limit: number): number {
    return Math.max(GROWTH_TOKENS_MIN, Math.floor(limit * GROWTH_SHARE));
  }
}
