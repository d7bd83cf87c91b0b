import type { ResponseItem } from '../protocol/generated/types.ts';
import type { Author } from '../store/log-entry.ts';
import type { AuthoredItem } from '../store/model-items.ts';
import { rolloutMessageText } from './begin-item.ts';

/**
 * The start of messages that a harness sends in the user's name to describe the environment. They
 * are not the user's messages.
 */
const CONTEXT_START =
  /^\s*(<(environment_context|user_instructions|user_action|user_shell_command|turn_aborted|turn_interrupted|skill|project_skills|context|thread_goal|review|approved_plan|conversation_summary|conversation_cut|copied_history|subagent_notification|hook_prompt|permissions instructions)\b|# AGENTS\.md instructions)/;

/**
 * The start of messages that describe the surroundings of a thread. A harness tells them again,
 * also after a compaction.
 */
const SURROUNDINGS =
  /^\s*(<(environment_context|user_instructions|permissions instructions|thread_goal|context|skill|project_skills)\b|# AGENTS\.md instructions)/;

/**
 * The author of an item that the model reads; null for an item of the model, and for the output of
 * a call unless the user gave it. Only for a message whose author was not noted, because another
 * program or an older version stored it, the text decides.
 */
export function authorOf({ item, author }: AuthoredItem): Author | null {
  return author ?? writtenBy(item);
}

/**
 * The author of a message by its text, for one that comes from outside. Null if the item is not
 * such a message.
 */
export function writtenBy(item: ResponseItem): Author | null {
  if (item.type !== 'message' || item.role === 'assistant') return null;
  if (item.role !== 'user') return 'context';
  const text = rolloutMessageText(item);
  if (!isContext(text)) return 'user';
  return SURROUNDINGS.test(text) ? 'context' : 'server';
}

/** Whether this is, by its text, a message of the user, and not of a harness in the user's name. */
export function isUserMessage(source: ResponseItem): boolean {
  return (
    source.type === 'message' && source.role === 'user' && !isContext(rolloutMessageText(source))
  );
}

export function isContext(text: string): boolean {
  return CONTEXT_START.test(text);
}
