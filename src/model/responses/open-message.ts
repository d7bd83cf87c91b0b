import type { ContentItem, ResponseItem } from '../../protocol/generated/types.ts';
import { AnswerItems } from '../http/answer/answer-items.ts';
import { ThinkSplitter } from '../http/answer/think-splitter.ts';
import type { Translation } from '../http/provider-api.ts';
import { messageText } from '../message-text.ts';

type Message = Extract<ResponseItem, { type: 'message' }>;

/**
 * A message of the model from its beginning to its end. Some servers pass on the tags with which
 * models mark their reasoning: a block before the first text becomes an item of reasoning before
 * the message. A message that is only such a block is left out.
 */
export class OpenMessage {
  readonly #items: AnswerItems;

  /**
   * The message begins for readers with its first text. The reasoning has parts of type `text`,
   * because it was the text of a message.
   */
  constructor(begun: Message & { id: string }, newReasoningId: () => string) {
    this.#items = new AnswerItems({
      newReasoningId,
      newMessage: () => begun,
      partType: 'text',
      keepsText: false,
    });
  }

  push(delta: string): Translation[] {
    const events: Translation[] = [];
    this.#items.answer(delta, events);
    return events;
  }

  /**
   * Ends the message. `whole` counts, and not its deltas. Returns the events, and whether the
   * message says anything.
   */
  complete(whole: Message): { events: Translation[]; says: boolean } {
    const events: Translation[] = [];
    this.#items.endAnswer(events);
    const { reasoning, message } = withoutBlocks(whole);
    if (!this.#items.hasReasoned) this.#items.reason(reasoning, events);
    this.#items.completeReasoning(events);
    const says = messageText(message).trim() !== '';
    const wasBlock = message !== whole || this.#items.hasReasoned;
    if (says || !wasBlock || this.#items.messageId !== null)
      events.push({ type: 'itemCompleted', item: message });
    return { events, says };
  }
}

/**
 * The message without the blocks of reasoning before its text, and that reasoning. Without any, the
 * message is the same object.
 */
function withoutBlocks(whole: Message): { reasoning: string; message: Message } {
  const thinking = new ThinkSplitter();
  const reasoning: string[] = [];
  const lastText = whole.content.findLastIndex((part) => 'text' in part);
  const content = whole.content.map((part, index): ContentItem => {
    if (!('text' in part)) return part;
    const pieces = [...thinking.push(part.text), ...(index === lastText ? thinking.end() : [])];
    reasoning.push(...pieces.flatMap(({ kind, text }) => (kind === 'reasoning' ? [text] : [])));
    return {
      ...part,
      text: pieces.map(({ kind, text }) => (kind === 'text' ? text : '')).join(''),
    };
  });
  if (!thinking.hasBlocks) return { reasoning: '', message: whole };
  const message = {
    ...whole,
    content: content.filter((part) => !('text' in part) || part.text !== ''),
  };
  return { reasoning: reasoning.join(''), message };
}
