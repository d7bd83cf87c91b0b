import { jsonWeight } from '../../base/json-pieces.ts';
import { isObject, type JsonValue } from '../../base/json-value.ts';
import { cutText } from '../../base/text/cut-text.ts';
import type { FunctionCallOutputBody, McpToolCallResult } from '../../protocol/generated/types.ts';

/** The images of one result that the model sees. */
const IMAGES_MAX = 16;
/** The longest image, in characters of Base64. */
const IMAGE_CHARS_MAX = 28 * 1024 * 1024;
/** Longer results, in characters of their JSON, are not kept whole with the item. */
const KEPT_CHARS_MAX = 4 * 1024 * 1024;
const KEPT_TEXT_CHARS_MAX = 64 * 1024;
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

type OutputItems = Extract<FunctionCallOutputBody, unknown[]>;

/** The result of a call as the server sent it. */
export interface CallResult {
  content: JsonValue[];
  structuredContent: JsonValue;
  isError: boolean;
  meta: JsonValue;
}

/** Reads what the host passed on. */
export function callResult(value: JsonValue): CallResult {
  const { content, structuredContent, isError, _meta } = isObject(value) ? value : {};
  return {
    content: Array.isArray(content) ? (content as JsonValue[]) : [],
    structuredContent: (structuredContent ?? null) as JsonValue,
    isError: isError === true,
    meta: (_meta ?? null) as JsonValue,
  };
}

/** The result for the item. A very long one is cut. */
export function shownResult({ content, structuredContent, meta }: CallResult): McpToolCallResult {
  const result = { content, structuredContent, _meta: meta };
  if (jsonWeight(result, KEPT_CHARS_MAX) <= KEPT_CHARS_MAX) return result;
  const left = { type: 'text', text: '[The result was too long to keep: it is cut.]' };
  return { content: [...content.slice(0, IMAGES_MAX).map(shortened), left], structuredContent: null, _meta: null };
}

function shortened(block: JsonValue): JsonValue {
  if (isObject(block) && typeof block.text === 'string') return { type: 'text', text: cutText(block.text, KEPT_TEXT_CHARS_MAX) };
  const type = isObject(block) && typeof block.type === 'string' ? block.type : 'content';
  return { type: 'text', text: `[${type}: left out]` };
}

/** The output of a call for the model. `tokensMax`: about how much text. Structured content takes the place of all else. */
export function outputFor(result: CallResult, wallMs: number, tokensMax: number): FunctionCallOutputBody {
  const { content, structuredContent } = result;
  if (structuredContent !== null) return `${head(wallMs)}\n${limited(JSON.stringify(structuredContent), tokensMax)}`;
  const items: OutputItems = [{ type: 'input_text', text: head(wallMs) }];
  let room = tokensMax * CHARS_PER_TOKEN;
  let images = 0;
  for (const block of content) {
    const item = outputItem(block);
    if (item.type === 'input_image' && ++images > IMAGES_MAX) continue;
    if (item.type !== 'input_text') items.push(item);
    else if (room > 0) {
      items.push({ type: 'input_text', text: limited(item.text, room / CHARS_PER_TOKEN) });
      room -= item.text.length;
    }
  }
  if (images > IMAGES_MAX) items.push({ type: 'input_text', text: `[${images - IMAGES_MAX} more images left out]` });
  if (room <= 0) items.push({ type: 'input_text', text: '[More text was left out: the result is too long.]' });
  return items;
}

/** The output of a failed call for the model. */
export function failureFor(message: string, wallMs: number): FunctionCallOutputBody {
  return [
    { type: 'input_text', text: head(wallMs) },
    { type: 'input_text', text: message },
  ];
}

const CHARS_PER_TOKEN = 4;

function head(wallMs: number): string {
  return `Wall time: ${(wallMs / 1000).toFixed(4)} seconds\nOutput:`;
}

function limited(text: string, tokensMax: number): string {
  const charsMax = Math.max(CHARS_PER_TOKEN, Math.floor(tokensMax * CHARS_PER_TOKEN));
  if (text.length <= charsMax) return text;
  const half = Math.floor(charsMax / 2);
  const leftOut = Math.ceil((text.length - charsMax) / CHARS_PER_TOKEN);
  return `${cutText(text, half)}\n[… about ${leftOut} tokens truncated …]\n${text.slice(-half)}`;
}

function outputItem(block: JsonValue): OutputItems[number] {
  if (!isObject(block)) return { type: 'input_text', text: JSON.stringify(block) };
  const { type, text, data, mimeType, resource } = block;
  if (type === 'text' && typeof text === 'string') return { type: 'input_text', text };
  if (type === 'image' && typeof data === 'string') return image(data, mimeType);
  if (type === 'resource' && isObject(resource)) return embedded(resource);
  if (type === 'audio') return { type: 'input_text', text: `[audio (${String(mimeType)}): it cannot be shown here]` };
  return { type: 'input_text', text: JSON.stringify(block) };
}

function embedded({ uri, text, blob, mimeType }: Record<string, unknown>): OutputItems[number] {
  if (typeof text === 'string') return { type: 'input_text', text: `${String(uri)}:\n${text}` };
  if (typeof blob === 'string' && IMAGE_TYPES.includes(String(mimeType))) return image(blob, mimeType);
  return { type: 'input_text', text: `[${String(uri)} (${String(mimeType)}): it cannot be shown here]` };
}

function image(data: string, mimeType: unknown): OutputItems[number] {
  if (!IMAGE_TYPES.includes(String(mimeType)) || data.length > IMAGE_CHARS_MAX)
    return { type: 'input_text', text: `[image (${String(mimeType)}): it cannot be shown here]` };
  return { type: 'input_image', image_url: `data:${String(mimeType)};base64,${data}`, detail: 'high' };
}
