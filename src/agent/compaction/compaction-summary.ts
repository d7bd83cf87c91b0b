import { cutMiddle } from '../../base/text/cut-middle.ts';
import { charsOfTokens } from '../../base/text/estimate-tokens.ts';
import { cutMessage, summaryMessage } from '../../instructions/messages/summary-message.ts';
import type { ToolSpec } from '../../model/model.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import { offeredSpecs } from '../../tools/tool.ts';
import { additionalContextIn } from '../prompt/additional-context.ts';
import { itemSize } from '../prompt/item-size.ts';
import type { ThreadContext } from '../thread-context.ts';
import { requestIdentity } from '../turn/request-identity.ts';
import { authored } from '../turn/turn-input.ts';
import type { TurnContext } from '../turn/turn-part.ts';
import type { DividedPrompt } from './divided-prompt.ts';
import { keptUserMessages, recentItems } from './kept-user-messages.ts';
import type { PromptLimit } from './prompt-limit.ts';
import { type Summary, summarize } from './summarize.ts';

/**
 * The user's messages, the summary and the latest items each take at most this part of the limit,
 * but at least KEPT_TOKENS_MIN.
 */
const KEPT_SHARE = 0.25;
const KEPT_TOKENS_MIN = 1_000;
const KEPT_TOKENS_MAX = 20_000;
/** A model with less room is asked for a summary without tools. */
const TOOLS_ROOM_MIN = 32_000;
/**
 * Why a thread is compacted: a client asked for it, the prompt is near its limit, or it was refused
 * as too long.
 */
export type Cause = 'requested' | 'limit' | 'exceeded';

/** Makes what takes the place of a prompt: a summary, and the messages that stay. */
export class CompactionSummary {
  readonly #thread: ThreadContext;
  readonly #limit: PromptLimit;

  constructor(thread: ThreadContext, limit: PromptLimit) {
    this.#thread = thread;
    this.#limit = limit;
  }

  /** Asks the model for a summary of what the thread has read, without its last input. */
  async make(turn: TurnContext, { body }: DividedPrompt, cause: Cause): Promise<Summary> {
    const { id: threadId, outbox } = this.#thread;
    const { clock } = this.#thread.services.runtime;
    const configuration = this.#thread.state.configuration;
    const { settings } = turn;
    const request = {
      model: settings.model,
      instructions: configuration.instructions.base(settings),
      effort: settings.effort,
      summary: null,
      outputSchema: null,
      serviceTier: settings.serviceTier,
      verbosity: configuration.responses.verbosity,
      promptCacheKey: threadId,
      ...requestIdentity({ record: this.#thread.state.record, turn, kind: 'compaction' }),
    };
    const room = this.#limit.room(settings.model);
    const tokens = tokensOf(body);
    return summarize(
      {
        model: configuration.model,
        clock,
        onUsage: (usage) => outbox.commit(this.#thread.usage.aside(turn, usage)),
      },
      {
        items: body,
        request,
        tools: await this.#tools(turn, room),
        prompt: configuration.prompt.compactPrompt,
        room,
        tokens,
        isTooLong: cause === 'exceeded' || tokens > room,
      },
      turn.signal,
    );
  }

  /** The specs of the tools of a turn's own request; none where a summary needs their room. */
  async #tools({ signal }: TurnContext, room: number): Promise<ToolSpec[]> {
    if (room < TOOLS_ROOM_MIN) return [];
    return offeredSpecs(await this.#thread.parts.tools(signal));
  }

  /** The messages that replace the body in the prompt, without the context. */
  replacement(turn: TurnContext, { body }: DividedPrompt, summary: Summary): AuthoredItem[] {
    const tokensMax = Math.min(
      KEPT_TOKENS_MAX,
      Math.max(KEPT_TOKENS_MIN, Math.floor(this.#limit.limit(turn.settings.model) * KEPT_SHARE)),
    );
    const kept = (items: readonly AuthoredItem[]) => [
      ...additionalContextIn(items, this.#thread.state.record.told, tokensMax),
      ...keptUserMessages(items, tokensMax),
    ];
    if ('text' in summary) {
      const text = cutMiddle(summary.text, charsOfTokens(tokensMax));
      return [...kept(body), ...authored('server', [summaryMessage(text, summary)])];
    }
    const { recent, older } = recentItems(body, tokensMax);
    return [...kept(body.slice(0, older)), ...authored('server', [cutMessage()]), ...recent];
  }
}

/** The tokens of these items, as an estimate. */
export function tokensOf(items: readonly AuthoredItem[]): number {
  return items.reduce((sum, { item }) => sum + itemSize(item).tokens, 0);
}
