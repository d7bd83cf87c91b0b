import { reviewMessage } from '../../instructions/review-message.ts';
import type { ResponseItem, ThreadItem, TurnError } from '../../protocol/generated/types.ts';
import { messageText } from '../../rollout/begin-item.ts';
import type { LogEntry } from '../../store/thread-store.ts';
import type { Tool } from '../../tools/tool.ts';
import { BuiltInTools } from '../calls/built-in-tools.ts';
import { checkWindow, promptTooLarge } from '../prompt/check-window.ts';
import { modelRequest } from '../prompt/model-request.ts';
import { OrderedPrompt } from '../prompt/ordered-prompt.ts';
import type { KeptPrompt, PromptBudget } from '../prompt/prompt-budget.ts';
import type { ThreadConfiguration } from '../settings/thread-configuration.ts';
import type { ActiveTurn } from '../turn/active-turn.ts';
import type { Conversation, Ending, PreparedRequest } from '../turn/conversation.ts';
import { modelEntries } from '../turn/turn-input.ts';
import type { TurnParts } from '../turn/turn-parts.ts';
import { readOnlyTool } from './read-only-tool.ts';
import { readReview } from './read-review.ts';

interface ReviewConversationDeps {
  threadId: string;
  turnId: string;
  configuration: ThreadConfiguration;
  parts: TurnParts;
  promptBudget: PromptBudget;
  /** In Unix milliseconds. */
  now(): number;
}

interface ReviewConversationOptions {
  /** Names the target for people. */
  hint: string;
  /** The messages that begin the conversation. */
  messages: readonly ResponseItem[];
  /** The ids of the items with the result. */
  itemIds: { exited: string; message: string };
}

/**
 * The conversation of a review: a reviewer with instructions and tools of its own, who reads nothing of the thread's history. It is
 * kept in memory only. Its result is stored with the end of the turn, and the thread's model reads it from the next turn on.
 */
export class ReviewConversation implements Conversation, KeptPrompt {
  readonly showsMessages = false;
  readonly #deps: ReviewConversationDeps;
  readonly #options: ReviewConversationOptions;
  readonly #prompt = new OrderedPrompt(null);
  #answer = '';

  constructor(deps: ReviewConversationDeps, options: ReviewConversationOptions) {
    this.#deps = deps;
    this.#options = options;
    this.withoutOwn(modelEntries(deps.turnId, options.messages, 'context'));
  }

  /** The approximate memory that the prompt takes. */
  get bytes(): number {
    return this.#prompt.items.bytes;
  }

  /** Does nothing: the prompt is not stored, so it cannot be read again. */
  drop(): void {}

  async tools(): Promise<readonly Tool[]> {
    return this.#deps.parts.get(BuiltInTools).readingTools().map(readOnlyTool);
  }

  async beforeRequest(): Promise<readonly ResponseItem[]> {
    return [];
  }

  requestFailed(): boolean {
    return false;
  }

  async request(turn: ActiveTurn, tools: readonly Tool[]): Promise<PreparedRequest | TurnError> {
    const { threadId, configuration, promptBudget } = this.#deps;
    const prompt = this.#prompt.listed();
    if (prompt.bytes > promptBudget.promptBytesMax) return promptTooLarge(promptBudget.promptBytesMax);
    const { model } = turn.settings;
    const error = checkWindow(prompt, { model, contextWindow: configuration.contextWindow(model), last: null });
    if (error !== null) return error;
    const end = await promptBudget.requesting(this, turn.signal);
    const request = modelRequest(turn, { threadId, configuration, input: prompt.items, tools });
    return { request: { ...request, schemaIsOptional: true }, end };
  }

  withoutOwn = (entries: LogEntry[]): LogEntry[] => {
    const others: LogEntry[] = [];
    for (const entry of entries) {
      if (entry.kind !== 'model') others.push(entry);
      else {
        this.#prompt.order.add(entry);
        const { item } = entry;
        if (item.type === 'message' && item.role === 'assistant') this.#answer = messageText(item);
      }
    }
    return others;
  };

  result(ending: Ending): ReturnType<Conversation['result']> {
    const { threadId, turnId } = this.#deps;
    const { hint, itemIds } = this.#options;
    const atMs = this.#deps.now();
    const report = reportOf(ending, this.#answer);
    const exited: ThreadItem = { type: 'exitedReviewMode', id: itemIds.exited, review: report };
    const message = ending.status === 'completed' ? agentMessage(itemIds.message, report) : null;
    const items = message === null ? [exited] : [exited, message];
    const told = reviewMessage(hint, ending.status === 'completed' ? { report } : ending.status);
    return {
      message,
      step: {
        entries: [
          ...items.map((item): LogEntry => ({ kind: 'item', turnId, item, startedAtMs: atMs, completedAtMs: atMs })),
          ...modelEntries(turnId, [told], 'server'),
        ],
        announce: items.flatMap((item) => [
          { method: 'item/started', params: { threadId, turnId, item, startedAtMs: atMs } },
          { method: 'item/completed', params: { threadId, turnId, item, completedAtMs: atMs } },
        ]),
      },
    };
  }
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

function agentMessage(id: string, text: string): ThreadItem {
  return { type: 'agentMessage', id, text, phase: null, memoryCitation: null, delivery: null, questions: null, moderation: null };
}
