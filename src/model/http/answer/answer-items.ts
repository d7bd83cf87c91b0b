import type { ResponseItem } from '../../../protocol/generated/types.ts';
import type { Translation } from '../provider-api.ts';
import { type AnswerPiece, ThinkSplitter } from './think-splitter.ts';

type Message = Extract<ResponseItem, { type: 'message' }> & { id: string };
type ReasoningPart = NonNullable<Extract<ResponseItem, { type: 'reasoning' }>['content']>[number];

export interface AnswerItemsOptions {
  newReasoningId: () => string;
  /** Makes the message when its first text has come. */
  newMessage: () => Message;
  /** The type of the parts of the reasoning. */
  partType: ReasoningPart['type'];
  /** Whether the text of the message is kept, for an API that does not send it whole. */
  keepsText: boolean;
}

/**
 * Makes items of an answer as it streams: reasoning is one item until text begins, and all text is
 * one message. Reasoning that stands in tags before the first text is reasoning, too. The owner
 * completes the message.
 */
export class AnswerItems {
  readonly #options: AnswerItemsOptions;
  readonly #thinking = new ThinkSplitter();
  #reasoning: { id: string; pieces: string[] } | null = null;
  #hasReasoned = false;
  #messageId: string | null = null;
  readonly #texts: string[] = [];

  constructor(options: AnswerItemsOptions) {
    this.#options = options;
  }

  /** Whether there is or was any reasoning. */
  get hasReasoned(): boolean {
    return this.#hasReasoned;
  }

  /** Null: the message has not begun. */
  get messageId(): string | null {
    return this.#messageId;
  }

  /** The text of the message so far, if it is kept. */
  get text(): string {
    return this.#texts.join('');
  }

  reason(delta: string, events: Translation[]): void {
    if (delta === '') return;
    if (this.#reasoning === null) {
      this.#hasReasoned = true;
      this.#reasoning = { id: this.#options.newReasoningId(), pieces: [] };
      events.push({
        type: 'itemStarted',
        item: { type: 'reasoning', id: this.#reasoning.id, summary: [] },
      });
    }
    this.#reasoning.pieces.push(delta);
    events.push({ type: 'reasoningDelta', itemId: this.#reasoning.id, index: 0, delta });
  }

  /** Takes text, which may have reasoning in tags. */
  answer(delta: string, events: Translation[]): void {
    if (delta !== '') this.#answer(this.#thinking.push(delta), events);
  }

  /** Call it when all text has come. */
  endAnswer(events: Translation[]): void {
    this.#answer(this.#thinking.end(), events);
  }

  /** Takes text that has no tags. */
  say(delta: string, events: Translation[]): void {
    if (delta === '') return;
    if (this.#messageId === null) {
      this.completeReasoning(events);
      const item = this.#options.newMessage();
      this.#messageId = item.id;
      events.push({ type: 'itemStarted', item });
    }
    if (this.#options.keepsText) this.#texts.push(delta);
    events.push({ type: 'textDelta', itemId: this.#messageId, delta });
  }

  completeReasoning(events: Translation[]): void {
    if (this.#reasoning === null) return;
    const { id, pieces } = this.#reasoning;
    this.#reasoning = null;
    const content = [{ type: this.#options.partType, text: pieces.join('') }];
    events.push({ type: 'itemCompleted', item: { type: 'reasoning', id, summary: [], content } });
  }

  #answer(pieces: readonly AnswerPiece[], events: Translation[]): void {
    for (const { kind, text } of pieces) {
      if (kind === 'text') this.say(text, events);
      else this.reason(text, events);
    }
  }
}
