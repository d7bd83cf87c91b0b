import type { ResponseItem } from '../../protocol/generated/types.ts';
import { authorOf } from '../../rollout/author-of.ts';
import type { AuthoredItem, ReadItem } from '../../store/model-items.ts';
import type { PromptState } from '../prompt/prompt-history.ts';

/**
 * A prompt in two parts: the body, which a compaction replaces, and the input that the turn has not
 * answered, which stays.
 */
export interface DividedPrompt {
  body: AuthoredItem[];
  tail: AuthoredItem[];
}

/** Divides a prompt before the input that this turn has not answered. */
export function dividedPrompt(
  { read, replaced }: Pick<PromptState, 'read' | 'replaced'>,
  turnId: string,
): DividedPrompt {
  let start = read.length;
  while (start > replaced && isInput(read[start - 1], turnId)) start--;
  return { body: read.slice(0, start), tail: read.slice(start) };
}

function isInput(read: ReadItem | undefined, turnId: string): boolean {
  return read?.turnId === turnId && read.item.type === 'message' && read.item.role !== 'assistant';
}

/** Returns whether a message has nothing that is not in these messages of the server as well. */
export function toldAgain(context: readonly ResponseItem[]): (item: ResponseItem) => boolean {
  const keys = (item: ResponseItem) =>
    item.type === 'message'
      ? item.content.map((part) => ('text' in part ? `${item.role}:${part.text}` : null))
      : [null];
  const told = new Set(context.flatMap(keys));
  return (item) => keys(item).every((key) => key !== null && told.has(key));
}

/**
 * Whether an item is a part of the conversation, or stands for one. Other items are context, which
 * the model is told again.
 */
export function isConversation(read: AuthoredItem): boolean {
  return authorOf(read) !== 'context';
}
