import { isObject, type JsonObject, parsedJson } from '../../base/json-value.ts';
import type { ContentItem, FunctionCallOutput, FunctionCallOutputContentItem, ResponseItem } from '../../protocol/generated/types.ts';

/** What stands between two texts that become one. */
const BREAK = '\n\n';
const DETAILS: ReadonlySet<unknown> = new Set(['auto', 'low', 'high']);

/**
 * A conversation in the form of Chat Completions. One system message begins it; further instructions among the turns are
 * the user's, since many models' templates take a system message in the first place only. Neighbours of one role are one
 * message, for the same reason, and what a model said and called in one answer is one message. Reasoning, and what has no
 * form in this API, is left out.
 */
export function chatMessages(instructions: string, input: readonly ResponseItem[]): JsonObject[] {
  const conversation = new ChatConversation();
  if (instructions !== '') conversation.instruct(instructions);
  for (const item of input) add(item, conversation);
  return conversation.messages();
}

function add(item: ResponseItem, conversation: ChatConversation): void {
  switch (item.type) {
    case 'message':
      if (item.role === 'assistant') conversation.say(texts(item.content));
      else if (item.role === 'user') conversation.ask(parts(item.content));
      else conversation.instruct(texts(item.content));
      break;
    case 'function_call':
      conversation.call(item.call_id, item.name, objectText(item.arguments));
      break;
    case 'custom_tool_call':
      conversation.call(item.call_id, item.name, JSON.stringify({ input: item.input }));
      break;
    case 'local_shell_call':
      if (item.call_id) conversation.call(item.call_id, 'local_shell', JSON.stringify(item.action));
      break;
    case 'function_call_output':
    case 'custom_tool_call_output':
      conversation.giveOutput(item.call_id ?? '', outputParts(item.output));
      break;
    default:
  }
}

type ChatPart = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string; detail?: string } };

type ChatMessage =
  | { role: 'system'; texts: string[] }
  | { role: 'user'; parts: ChatPart[] }
  | { role: 'assistant'; texts: string[]; calls: { id: string; name: string; args: string }[] }
  | { role: 'tool'; callId: string; text: string };

/** Puts messages together in the order in which they are said. */
class ChatConversation {
  readonly #messages: ChatMessage[] = [];
  /** Tools give texts alone; their pictures are shown after them. */
  #pictures: ChatPart[] = [];

  instruct(text: string): void {
    const [first] = this.#messages;
    if (text === '') return;
    if (first === undefined) this.#messages.push({ role: 'system', texts: [text] });
    else if (first.role === 'system' && this.#messages.length === 1) first.texts.push(text);
    else this.ask([{ type: 'text', text }]);
  }

  ask(said: ChatPart[]): void {
    const parts = [...this.#takePictures(), ...said];
    const last = this.#messages.at(-1);
    if (last?.role === 'user') last.parts.push(...parts);
    else if (parts.length > 0) this.#messages.push({ role: 'user', parts });
  }

  say(text: string): void {
    if (text !== '') this.#answer().texts.push(text);
  }

  call(id: string, name: string, args: string): void {
    this.#answer().calls.push({ id, name, args });
  }

  /** Servers refuse the output of a call that they are not shown. */
  giveOutput(callId: string, body: { text: string; pictures: ChatPart[] }): void {
    const answer = this.#messages.findLast(({ role }) => role === 'assistant');
    if (answer?.role !== 'assistant' || !answer.calls.some(({ id }) => id === callId)) return;
    this.#messages.push({ role: 'tool', callId, text: body.text });
    this.#pictures.push(...body.pictures);
  }

  messages(): JsonObject[] {
    this.ask([]);
    return this.#messages.map(wireMessage);
  }

  #answer(): Extract<ChatMessage, { role: 'assistant' }> {
    if (this.#pictures.length > 0) this.ask([]);
    const last = this.#messages.at(-1);
    if (last?.role === 'assistant') return last;
    const answer: ChatMessage = { role: 'assistant', texts: [], calls: [] };
    this.#messages.push(answer);
    return answer;
  }

  #takePictures(): ChatPart[] {
    const pictures = this.#pictures;
    this.#pictures = [];
    return pictures;
  }
}

function wireMessage(message: ChatMessage): JsonObject {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.texts.join(BREAK) };
    case 'user':
      return { role: 'user', content: userContent(message.parts) };
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.text };
    case 'assistant': {
      const calls = message.calls.map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: args } }));
      const content = message.texts.length === 0 ? null : message.texts.join(BREAK);
      return { role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
    }
    default:
      return message satisfies never;
  }
}

/** A text where there is nothing else: not every server takes parts. */
function userContent(parts: ChatPart[]): string | JsonObject[] {
  const said = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return said.length === parts.length ? said.join(BREAK) : parts.map((part) => ({ ...part }));
}

function texts(content: readonly ContentItem[]): string {
  return parts(content)
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join(BREAK);
}

/** Audio and files kept by another provider have no form here. */
function parts(content: readonly (ContentItem | FunctionCallOutputContentItem)[]): ChatPart[] {
  return content.flatMap((item): ChatPart[] => {
    if ('text' in item) return item.text === '' ? [] : [{ type: 'text', text: item.text }];
    if (item.type !== 'input_image' || !item.image_url) return [];
    const detail = DETAILS.has(item.detail) && item.detail ? { detail: item.detail } : {};
    return [{ type: 'image_url', image_url: { url: item.image_url, ...detail } }];
  });
}

function outputParts(output: FunctionCallOutput): { text: string; pictures: ChatPart[] } {
  const body = typeof output === 'object' && !Array.isArray(output) ? output.body : output;
  if (typeof body === 'string') return { text: body, pictures: [] };
  const all = parts(body);
  const text = all.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(BREAK);
  return { text, pictures: all.filter((part) => part.type === 'image_url') };
}

/** Arguments as servers take them back, which is an object: what a model wrote in another form is put into one. */
function objectText(args: string): string {
  if (args.trim() === '') return '{}';
  if (isObject(parsedJson(args))) return args;
  return JSON.stringify({ arguments: args });
}
