import type { ResponseItem } from '../../protocol/generated/types.ts';

/** The state of a conversation, as the embedded model and scripted models need it. */
export interface ConversationState {
  /** The last message that a person wrote. */
  userText: string;
  /** How many messages people have written, including this one. */
  userMessages: number;
  /** The tool calls since that message, with their outputs as text; null if there is no output. */
  calls: { name: string; output: string | null }[];
}

/** Reads a request's input. User messages that begin with `<` or with AGENTS.md files are context from the server, not from a person. */
export function readConversation(input: ResponseItem[]): ConversationState {
  const start = input.findLastIndex((item) => isPersonsMessage(item));
  const later = input.slice(start + 1);
  const outputs = new Map<string, string>();
  for (const item of later) if (isOutput(item)) outputs.set(item.call_id ?? '', outputText(item.output));
  const calls = later
    .filter((item) => item.type === 'function_call' || item.type === 'custom_tool_call')
    .map((item) => ({ name: item.name, output: outputs.get(item.call_id) ?? null }));
  const message = input[start];
  const userMessages = input.filter((item) => isPersonsMessage(item)).length;
  return { userText: message === undefined ? '' : messageText(message), userMessages, calls };
}

/** Whether a person wrote this message. A message of a person that looks like context counts as context. */
export function isPersonsMessage(item: ResponseItem): boolean {
  return item.type === 'message' && item.role === 'user' && !/^(\s*<|# AGENTS\.md instructions)/.test(messageText(item));
}

function isOutput(item: ResponseItem): item is Extract<ResponseItem, { type: 'function_call_output' | 'custom_tool_call_output' }> {
  return item.type === 'function_call_output' || item.type === 'custom_tool_call_output';
}

/** The text of a message's parts, one per line; empty if the item is not a message. */
export function messageText(item: ResponseItem): string {
  if (item.type !== 'message') return '';
  return item.content
    .map((part) => ('text' in part ? part.text : ''))
    .filter((text) => text !== '')
    .join('\n');
}

/** The text of an output, which is a string, an array of parts, or an object with one of these as its `body`. */
export function outputText(output: unknown): string {
  if (typeof output === 'string') return output;
  if (Array.isArray(output)) return output.map(partText).join('\n');
  return typeof output === 'object' && output !== null && 'body' in output ? outputText(output.body) : '';
}

function partText(part: unknown): string {
  return typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string' ? part.text : '[not text]';
}
