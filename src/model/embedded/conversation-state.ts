import type { ResponseItem } from '../../protocol/generated/types.ts';
import { messageText, outputText } from '../message-text.ts';

/** The state of a conversation, as the embedded model and scripted models need it. */
export interface ConversationState {
  /** The last message that a person wrote. */
  userText: string;
  /** How many messages people have written, including this one. */
  userMessages: number;
  /** The tool calls since that message, with their outputs as text; null if there is no output. */
  calls: { name: string; output: string | null }[];
}

/**
 * Reads a request's input. A request does not say who wrote its messages, so those that begin with
 * `<` or with AGENTS.md files count as context from the server. That is enough for answers that
 * nothing depends on.
 */
export function readConversation(input: ResponseItem[]): ConversationState {
  const start = input.findLastIndex((item) => isPersonsMessage(item));
  const later = input.slice(start + 1);
  const outputs = new Map<string, string>();
  for (const item of later)
    if (isOutput(item)) outputs.set(item.call_id ?? '', outputText(item.output));
  const calls = later
    .filter((item) => item.type === 'function_call' || item.type === 'custom_tool_call')
    .map((item) => ({ name: item.name, output: outputs.get(item.call_id) ?? null }));
  const message = input[start];
  const userMessages = input.filter((item) => isPersonsMessage(item)).length;
  return { userText: message === undefined ? '' : messageText(message), userMessages, calls };
}

/**
 * Whether a person wrote this message. A message of a person that looks like context counts as
 * context.
 */
function isPersonsMessage(item: ResponseItem): boolean {
  return (
    item.type === 'message' &&
    item.role === 'user' &&
    !/^(\s*<|# AGENTS\.md instructions)/.test(messageText(item))
  );
}

function isOutput(
  item: ResponseItem,
): item is Extract<ResponseItem, { type: 'function_call_output' | 'custom_tool_call_output' }> {
  return item.type === 'function_call_output' || item.type === 'custom_tool_call_output';
}
