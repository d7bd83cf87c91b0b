import { isObject, type JsonValue } from '../../base/json-value.ts';
import { cutMiddle } from '../../base/text/cut-middle.ts';
import { cutText } from '../../base/text/cut-text.ts';
import { type ForeignPart, foreignOutput } from '../../instructions/foreign-output.ts';
import type { McpToolCallResult } from '../../protocol/generated/types.ts';
import { type CallResult, callResult } from '../messages/call-result.ts';
import type { McpCallOutcome } from '../messages/mcp-host.ts';
import { fitsLimits } from './limits/json-limits.ts';

/** A larger result is not kept whole with the item. */
const KEPT = { chars: 4 * 1024 * 1024, values: 50_000, depth: 100 };
/** Of a larger one, so many parts are kept, with so much text each. */
const KEPT_PARTS_MAX = 16;
const KEPT_TEXT_CHARS_MAX = 64 * 1024;

/**
 * The result of a tool for the model, which reads about `charsMax` characters of its text, and for
 * the item.
 */
export async function callOutcome(value: JsonValue, charsMax: number): Promise<McpCallOutcome> {
  const result = callResult(value);
  const { structuredContent, content, isError } = result;
  // Structured content takes the place of all else.
  const output =
    structuredContent === null
      ? await foreignOutput(content.map(foreignPart), charsMax)
      : cutMiddle(JSON.stringify(structuredContent), charsMax);
  return { isError, output, result: keptResult(result) };
}

function keptResult({ content, structuredContent, meta }: CallResult): McpToolCallResult {
  const result = { content, structuredContent, _meta: meta };
  if (fitsLimits(KEPT, result)) return result;
  const left = { type: 'text', text: '[The result was too long to keep: it is cut.]' };
  return {
    content: [...content.slice(0, KEPT_PARTS_MAX).map(shortened), left],
    structuredContent: null,
    _meta: null,
  };
}

function shortened(block: JsonValue): JsonValue {
  if (isObject(block) && typeof block.text === 'string')
    return { type: 'text', text: cutText(block.text, KEPT_TEXT_CHARS_MAX) };
  const type =
    isObject(block) && typeof block.type === 'string' ? cutText(block.type, 100) : 'content';
  return { type: 'text', text: `[${type}: left out]` };
}

function foreignPart(block: JsonValue): ForeignPart {
  if (!isObject(block)) return { type: 'text', text: JSON.stringify(block) };
  const { type, text, data, resource } = block;
  if (type === 'text' && typeof text === 'string') return { type: 'text', text };
  if (type === 'image' && typeof data === 'string') return { type: 'image', data, detail: 'high' };
  if (type === 'resource' && isObject(resource)) return embedded(resource);
  if (type === 'audio') return { type: 'other', what: 'audio' };
  return { type: 'text', text: JSON.stringify(block) };
}

function embedded({ uri, text, blob, mimeType }: Record<string, unknown>): ForeignPart {
  if (typeof text === 'string') return { type: 'text', text: `${String(uri)}:\n${text}` };
  if (typeof blob === 'string' && String(mimeType).startsWith('image/'))
    return { type: 'image', data: blob, detail: 'high' };
  return { type: 'text', text: `[${String(uri)} (${String(mimeType)}): it cannot be shown here]` };
}
