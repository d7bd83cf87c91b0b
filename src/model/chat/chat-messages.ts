import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices } from '../../base/in-slices.ts';
import { isObject, type JsonObject } from '../../base/json-value.ts';
import { parseJson } from '../../base/parse-long-json.ts';
import type {
  ContentItem,
  FunctionCallOutput,
  FunctionCallOutputContentItem,
  ResponseItem,
} from '../../protocol/generated/types.ts';
import { flatToolName } from '../flat-tool-name.ts';
import { searchAsFunction } from '../found-tools.ts';
import type { ModelRequest } from '../model.ts';

/** Separates texts that are joined into one. */
const BREAK = '\n\n';
const DETAILS: ReadonlySet<unknown> = new Set(['auto', 'low', 'high']);

/**
 * Converts a conversation into the messages of Chat Completions. It begins with one system message;
 * later instructions become user messages, since many models' templates accept a system message
 * only at the start. For the same reason, adjacent messages of one role are merged, and a model's
 * text and calls of one response become one message. Item types that this API does not have are
 * left out, and so is reasoning, unless all messages of the model are to have it (`withThoughts`).
 */
export async function chatMessages(
  { instructions, input }: Pick<ModelRequest, 'instructions' | 'input'>,
  { pace, withThoughts = false }: { pace: EventLoopYield; withThoughts?: boolean },
): Promise<JsonObject[]> {
  const conversation = new ChatConversation({ withThoughts });
  if (instructions !== '') conversation.instruct(instructions);
  for await (const item of inSlices(input, 1, pace)) {
    const known = searchAsFunction(item);
    if (known?.type === 'function_call') await addCall(known, conversation);
    else if (known !== null) add(known, conversation);
  }
  return conversation.messages();
}

async function addCall(
  item: Extract<ResponseItem, { type: 'function_call' }>,
  conversation: ChatConversation,
): Promise<void> {
  conversation.call(
    item.call_id,
    flatToolName(item.name, item.namespace),
    await objectText(item.arguments),
  );
}

function add(
  item: Exclude<ResponseItem, { type: 'function_call' }>,
  conversation: ChatConversation,
): void {
  switch (item.type) {
    case 'message':
      if (item.role === 'assistant') conversation.say(texts(item.content));
      else if (item.role === 'user') conversation.ask(parts(item.content));
      else conversation.instruct(texts(item.content));
      break;
    case 'reasoning':
      conversation.think((item.content ?? []).map(({ text }) => text).join(BREAK));
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

type ChatPart =
  | { type: 'text'; text: string }
  | { type: 'image_url'; image_url: { url: string; detail?: string } };

type ChatMessage =
  | { role: 'system'; texts: string[] }
  | { role: 'user'; parts: ChatPart[] }
  | {
      role: 'assistant';
      thoughts: string[];
      texts: string[];
      calls: { id: string; name: string; args: string }[];
    }
  | { role: 'tool'; callId: string; text: string };

/** Collects the messages in order and merges adjacent ones. */
class ChatConversation {
  readonly #withThoughts: boolean;
  readonly #messages: ChatMessage[] = [];
  /** Reasoning that belongs to what the model says or calls next. */
  #thoughts: string[] = [];
  /** Tool messages hold only text, so images of tools follow in a user message. */
  #pictures: ChatPart[] = [];

  constructor({ withThoughts }: { withThoughts: boolean }) {
    this.#withThoughts = withThoughts;
  }

  instruct(text: string): void {
    const [first] = this.#messages;
    if (text === '') return;
    if (first === undefined) this.#messages.push({ role: 'system', texts: [text] });
    else if (first.role === 'system' && this.#messages.length === 1) first.texts.push(text);
    else this.ask([{ type: 'text', text }]);
  }

  ask(said: ChatPart[]): void {
    const parts = [...this.#takePictures(), ...said];
    if (said.length > 0) this.#thoughts = [];
    const last = this.#messages.at(-1);
    if (last?.role === 'user') for (const part of parts) last.parts.push(part);
    else if (parts.length > 0) this.#messages.push({ role: 'user', parts });
  }

  think(text: string): void {
    if (text !== '') this.#thoughts.push(text);
  }

  say(text: string): void {
    if (text !== '') this.#answer().texts.push(text);
  }

  call(id: string, name: string, args: string): void {
    this.#answer().calls.push({ id, name, args });
  }

  /** Leaves out the output of a call that is not in the conversation: servers refuse it. */
  giveOutput(callId: string, body: { text: string; pictures: ChatPart[] }): void {
    const answer = this.#messages.findLast(({ role }) => role === 'assistant');
    if (answer?.role !== 'assistant' || !answer.calls.some(({ id }) => id === callId)) return;
    this.#messages.push({ role: 'tool', callId, text: body.text });
    this.#pictures.push(...body.pictures);
  }

  messages(): JsonObject[] {
    this.ask([]);
    return this.#messages.map((message) =>
      wireMessage(message, { withThoughts: this.#withThoughts }),
    );
  }

  #answer(): Extract<ChatMessage, { role: 'assistant' }> {
    if (this.#pictures.length > 0) this.ask([]);
    const last = this.#messages.at(-1);
    const answer =
      last?.role === 'assistant'
        ? last
        : { role: 'assistant' as const, thoughts: [], texts: [], calls: [] };
    if (answer !== last) this.#messages.push(answer);
    answer.thoughts.push(...this.#thoughts.splice(0));
    return answer;
  }

  #takePictures(): ChatPart[] {
    const pictures = this.#pictures;
    this.#pictures = [];
    return pictures;
  }
}

function wireMessage(
  message: ChatMessage,
  { withThoughts }: { withThoughts: boolean },
): JsonObject {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.texts.join(BREAK) };
    case 'user':
      return { role: 'user', content: userContent(message.parts) };
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.text };
    case 'assistant': {
      const calls = message.calls.map(({ id, name, args }) => ({
        id,
        type: 'function',
        function: { name, arguments: args },
      }));
      const content = message.texts.length === 0 ? null : message.texts.join(BREAK);
      const thoughts = withThoughts ? { reasoning_content: message.thoughts.join(BREAK) } : {};
      return {
        role: 'assistant',
        content,
        ...thoughts,
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      };
    }
    default:
      return message satisfies never;
  }
}

/** A string if all parts are text: not every server accepts parts. */
function userContent(parts: ChatPart[]): string | JsonObject[] {
  const said = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return said.length === parts.length ? said.join(BREAK) : parts.map((part) => ({ ...part }));
}

function texts(content: readonly ContentItem[]): string {
  return parts(content)
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join(BREAK);
}

/** Leaves out audio and files that another provider stores: this API does not have them. */
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

/**
 * Arguments as a JSON object, since servers accept nothing else: arguments in any other form become
 * a member of one.
 */
async function objectText(args: string): Promise<string> {
  if (args.trim() === '') return '{}';
  if (isObject(await parseJson(args))) return args;
  return JSON.stringify({ arguments: args });
}
