import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { isObject } from '../../../base/json-value.ts';
import { fitsLimits, type JsonLimits, leftOf } from './json-limits.ts';

/**
 * The library's schemas make an error for each value that is not as it should be: 50,000 of them
 * need up to 200 MiB.
 */
const CHECKED: JsonLimits = { chars: Number.POSITIVE_INFINITY, values: 50_000, depth: 1_000 };
const TOO_MANY = `it has more than ${CHECKED.values} values, or is nested too deeply`;

type Body = Record<string, unknown>;

/**
 * Why a message of a server is more than the library's schemas can check; null: it is not. In a
 * result with too many values, the list of content is replaced by its texts. Schemas take
 * structured content and texts as they are.
 */
export function limitMessage(message: JSONRPCMessage): string | null {
  const { result, params } = message as { result?: unknown; params?: unknown };
  if ('method' in message)
    return fitsLimits(CHECKED, params) ? null : `the message is too large: ${TOO_MANY}`;
  return !isObject(result) || limitResult(result)
    ? null
    : `the answer of the server is too large: ${TOO_MANY}`;
}

/** Returns whether the result is within the limits now. */
function limitResult(result: Body): boolean {
  let left: JsonLimits | null = CHECKED;
  for (const key in result) {
    if (key !== 'structuredContent' && key !== 'content') left = leftOf(left, result[key]);
    if (left === null) return false;
  }
  if (fitsLimits(left, result.content)) return true;
  if (!Array.isArray(result.content)) return false;
  result.content = textsOf(result.content);
  return true;
}

function textsOf(content: unknown[]): Body[] {
  const texts = content.filter(isText).map(({ text }) => ({ type: 'text', text }));
  const others = content.length - texts.length;
  const note = {
    type: 'text',
    text: `[Left out of this result: ${others} × a part that is not a text.]`,
  };
  return others === 0 ? texts : [...texts, note];
}

function isText(part: unknown): part is { text: string } {
  return isObject(part) && part.type === 'text' && typeof part.text === 'string';
}
