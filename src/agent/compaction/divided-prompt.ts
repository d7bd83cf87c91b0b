import { isReviewMessage } from '../../instructions/review-message.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import { messageText } from '../../rollout/begin-item.ts';
import { isUserMessage } from '../../rollout/history-entries.ts';
import type { ReadItem } from '../../store/model-items.ts';
import type { PromptState } from '../prompt/prompt-history.ts';

/** A prompt in two parts: the body, which a compaction replaces, and the input that the turn has not answered, which stays. */
export interface DividedPrompt {
  body: ResponseItem[];
  tail: ResponseItem[];
}

/** Divides a prompt before the input that this turn has not answered. */
export function dividedPrompt({ read, replaced }: Pick<PromptState, 'read' | 'replaced'>, turnId: string): DividedPrompt {
  let start = read.length;
  while (start > replaced && isInput(read[start - 1], turnId)) start--;
  const items = read.map(({ item }) => item);
  return { body: items.slice(0, start), tail: items.slice(start) };
}

function isInput(read: ReadItem | undefined, turnId: string): boolean {
  return read?.turnId === turnId && read.item.type === 'message' && read.item.role !== 'assistant';
}

/** Whether an item is a part of the conversation, or stands for one. Other items are context, which the model is told again. */
export function isConversation(item: ResponseItem): boolean {
  if (item.type !== 'message' || item.role === 'assistant' || isUserMessage(item)) return true;
  return isReviewMessage(item) || (item.role === 'user' && messageText(item).startsWith('<conversation_'));
}
