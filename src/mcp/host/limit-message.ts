import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { isObject } from '../../base/json-value.ts';
import { isWithin, type JsonLimits } from './json-limits.ts';

/** The library's schemas make an error for each value that is not as it should be: 50,000 of them need up to 200 MiB. */
const CHECKED: JsonLimits = { chars: Number.POSITIVE_INFINITY, values: 50_000, depth: 1_000 };
/** Of a longer list of content only the texts are kept. */
const CONTENT_PARTS_MAX = 10_000;
const TOO_MANY = `it has more than ${CHECKED.values} values, or is nested too deeply`;

type Body = Record<string, unknown>;

/**
 * Brings a message of a server within what the library's schemas can check, in place: a result that is too large becomes an error, and what
 * else is too large becomes empty. Schemas take structured content as it is.
 */
export function limitMessage(message: JSONRPCMessage): void {
  const told = message as Body;
  const key = 'result' in told ? 'result' : 'params';
  const body = told[key];
  if (!isObject(body)) return;
  const { structuredContent: _, ...checked } = body;
  if (Array.isArray(body.content) && body.content.length > CONTENT_PARTS_MAX) {
    body.content = body.content.map(asText);
    checked.content = null;
  }
  if (isWithin(CHECKED, checked)) return;
  delete told[key];
  if (key === 'result') told.error = { code: -32603, message: `the answer of the server is too large: ${TOO_MANY}` };
}

function asText(part: unknown): Body {
  if (!isObject(part)) return { type: 'text', text: '[left out]' };
  return { type: 'text', text: part.type === 'text' && typeof part.text === 'string' ? part.text : '[left out]' };
}
