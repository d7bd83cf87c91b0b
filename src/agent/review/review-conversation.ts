import { orAborted } from '../../base/or-aborted.ts';
import { charsOfTokens, estimateTokens } from '../../base/text/estimate-tokens.ts';
import { contextMessage } from '../../instructions/messages/context-message.ts';
import { reviewMessage } from '../../instructions/messages/review-message.ts';
import type { ModelRequest } from '../../model/model.ts';
import type { ResponseItem, TurnError, UntimedItem } from '../../protocol/generated/types.ts';
import { rolloutMessageText } from '../../rollout/begin-item.ts';
import type { LogEntry } from '../../store/log-entry.ts';
import { timedItem } from '../../store/timed-item.ts';
import type { Tool } from '../../tools/tool.ts';
import { BuiltInTools } from '../calls/built-in-tools.ts';
import { itemShown } from '../items/item-shown.ts';
import { OrderedPrompt } from '../prompt/ordered-prompt.ts';
import type { KeptPrompt } from '../prompt/prompt-budget.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { ActiveTurn } from '../turn/active-turn.ts';
import type { Conversation, Ending, PreparedRequest } from '../turn/conversation.ts';
import { modelRequest } from '../turn/model-request.ts';
import { modelEntries } from '../turn/turn-input.ts';
import { readOnlyTool } from './read-only-tool.ts';
import { readReview } from './read-review.ts';

/** A conversation that takes more than this part of its room is shortened, to the part below. */
const LONG_SHARE = 0.85;
const SHORT_SHARE = 0.4;
/** From this length on, a model's context window has to be known. */
const UNKNOWN_WINDOW_TOKENS_MAX = 8_000;

const SHORTENED =
  '<note>\nThe conversation came close to the limit of your context window. So earlier outputs were shortened, and the oldest may be \
missing. Read again only what you still need, in small parts, and then answer.\n</note>';

interface ReviewConversationOptions {
  turnId: string;
  /** Names the target for people. */
  hint: string;
  /** The messages that begin the conversation. */
  messages: readonly ResponseItem[];
  /** The ids of the items with the result. */
  itemIds: { exited: string; message: string };
}

/**
 * The conversation of a review: a reviewer with instructions and tools of its own, who reads
 * nothing of the thread's history. It is kept in memory only. Its result is stored with the end of
 * the turn, and the thread's model reads it from the next turn on.
 */
export class ReviewConversation implements Conversation, KeptPrompt {
  readonly showsMessages = false;
  readonly #thread: ThreadContext;
  readonly #options: ReviewConversationOptions;
  readonly #prompt = new OrderedPrompt(null);
  readonly parts = null;
  #answer = '';
  #hasAsked = false;
  #isShortened = false;

  constructor(thread: ThreadContext, options: ReviewConversationOptions) {
    this.#thread = thread;
    this.#options = options;
    this.withoutOwn(modelEntries(options.turnId, options.messages, 'context'));
  }

  /** The approximate memory that the prompt takes. */
  get bytes(): number {
    return this.#prompt.items.bytes;
  }

  /** Does nothing: the prompt is not stored, so it cannot be read again. */
  drop(): void {}

  async tools(): Promise<readonly Tool[]> {
    return this.#thread.parts.get(BuiltInTools).readingTools().map(readOnlyTool);
  }

  async beforeRequest(): Promise<null> {
    return null;
  }

  /**
   * If the provider refused the prompt as too long, the model is asked again with about half of it,
   * as long as it can be shortened.
   */
  requestFailed({ codexErrorInfo }: TurnError): boolean {
    return (
      codexErrorInfo === 'contextWindowExceeded' && this.#shorten(this.#prompt.items.tokens / 2)
    );
  }

  async request(turn: ActiveTurn, tools: readonly Tool[]): Promise<PreparedRequest | TurnError> {
    const { id: threadId, state, services } = this.#thread;
    const { configuration } = state;
    const { promptBudget } = services.limits;
    const { model } = turn.settings;
    const request = modelRequest(turn, { threadId, configuration, input: [], tools });
    await this.#learnWindow(turn);
    const contextWindow = configuration.prompt.contextWindow(model);
    const room = Math.min(
      contextWindow.tokens - requestTokens(request),
      estimateTokens(promptBudget.promptBytesMax),
    );
    if (this.#prompt.items.tokens > room * LONG_SHARE) this.#shorten(room * SHORT_SHARE);
    const { items, tokens, bytes } = this.#prompt.listed();
    const isTooLong =
      (contextWindow.isKnown && tokens > room) || bytes > promptBudget.promptBytesMax;
    if (isTooLong)
      return tooLong(`the context window of ${model} has ${contextWindow.tokens} tokens`);
    const end = await promptBudget.requesting(this, turn.signal);
    return { request: { ...request, input: items, schemaIsOptional: true }, end };
  }

  /**
   * Asks the provider, once, for the context window of a model that nothing is known about, when
   * the conversation has grown.
   */
  async #learnWindow({ settings: { model }, signal }: ActiveTurn): Promise<void> {
    const { configuration } = this.#thread.state;
    const isNeeded =
      !configuration.prompt.contextWindow(model).isKnown &&
      this.#prompt.items.tokens > UNKNOWN_WINDOW_TOKENS_MAX;
    if (this.#hasAsked || !isNeeded) return;
    this.#hasAsked = true;
    await orAborted(configuration.prompt.learnContextWindow(model), signal);
  }

  /**
   * Shortens older outputs, and leaves the oldest out, and tells the reviewer. Returns whether the
   * prompt is shorter now.
   */
  #shorten(tokensMax: number): boolean {
    const before = this.#prompt.items.tokens;
    this.#prompt.shrink(charsOfTokens(tokensMax));
    if (this.#prompt.items.tokens >= before) return false;
    if (!this.#isShortened)
      this.withoutOwn(
        modelEntries(this.#options.turnId, [contextMessage('user', [SHORTENED])], 'context'),
      );
    this.#isShortened = true;
    return true;
  }

  withoutOwn = (entries: LogEntry[]): LogEntry[] => {
    const others: LogEntry[] = [];
    for (const entry of entries) {
      if (entry.kind !== 'model' && entry.kind !== 'deferredRead') {
        others.push(entry);
        continue;
      }
      this.#prompt.order.add(entry);
      const item = entry.kind === 'model' ? entry.item : null;
      if (item?.type === 'message' && item.role === 'assistant')
        this.#answer = rolloutMessageText(item);
    }
    return others;
  };

  result(ending: Ending): ReturnType<Conversation['result']> {
    const { id: threadId, services } = this.#thread;
    const { turnId, hint, itemIds } = this.#options;
    const atMs = services.runtime.clock.now();
    const report = reportOf(ending, this.#answer);
    const exited: UntimedItem = { type: 'exitedReviewMode', id: itemIds.exited, review: report };
    const message = ending.status === 'completed' ? agentMessage(itemIds.message, report) : null;
    const items = message === null ? [exited] : [exited, message];
    const told = reviewMessage(hint, ending.status === 'completed' ? { report } : ending.status);
    return {
      message: message && timedItem({ item: message, startedAtMs: atMs, completedAtMs: atMs }),
      step: {
        entries: [
          ...items.map(
            (item): LogEntry => ({
              kind: 'item',
              turnId,
              item,
              startedAtMs: atMs,
              completedAtMs: atMs,
            }),
          ),
          ...modelEntries(turnId, [told], 'server'),
        ],
        announce: items.flatMap((item) => itemShown(threadId, { turnId, item, atMs })),
      },
    };
  }
}

/** The approximate number of tokens of the instructions and the tools. */
function requestTokens({ instructions, tools }: ModelRequest): number {
  return estimateTokens(Buffer.byteLength(instructions + JSON.stringify(tools)));
}

function tooLong(why: string): TurnError {
  const message = `The review is too long for the model: ${why}. Review fewer changes, or set review_model to a model that can read more.`;
  return { message, codexErrorInfo: 'contextWindowExceeded', additionalDetails: null };
}

function reportOf(ending: Ending, answer: string): string {
  switch (ending.status) {
    case 'completed':
      return readReview(answer) || 'The reviewer gave no answer.';
    case 'interrupted':
      return 'The review was interrupted before it was complete.';
    case 'failed':
      return `The review failed: ${ending.error.message}`;
    default:
      return ending satisfies never;
  }
}

function agentMessage(id: string, text: string): UntimedItem {
  return {
    type: 'agentMessage',
    id,
    text,
    phase: null,
    memoryCitation: null,
    delivery: null,
    questions: null,
    moderation: null,
  };
}
