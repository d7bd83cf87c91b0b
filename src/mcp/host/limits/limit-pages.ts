import type { Client } from '@modelcontextprotocol/client';
import { isObject } from '../../../base/json-value.ts';
import { type JsonLimits, leftOf } from './json-limits.ts';

/** The pages of one list together, but for the last. */
const PAGES: JsonLimits = { chars: 16 * 1024 * 1024, values: 1_000_000, depth: 2_000 };
const TOO_LONG = `have more than ${PAGES.chars / 1024 / 1024} MiB or ${PAGES.values} values together, or are nested too deeply`;

type Ask = (request: { method: string }, ...more: unknown[]) => Promise<unknown>;

/**
 * Lets a client ask for further pages of a list only while those that it has are within the limits.
 */
export function limitPages(client: Client): void {
  const ask = client.request.bind(client) as Ask;
  /** By the options of the requests, which the library passes on for each page of a list. */
  const lefts = new WeakMap<object, JsonLimits>();
  const askLimited: Ask = async (request, ...more) => {
    const result = await ask(request, ...more);
    const options = more.at(-1);
    if (!isObject(result) || result.nextCursor === undefined || !isObject(options)) return result;
    const left = leftOf(lefts.get(options) ?? PAGES, result);
    if (left === null)
      throw new Error(`the pages of the server's answers to ${request.method} ${TOO_LONG}`);
    lefts.set(options, left);
    return result;
  };
  client.request = askLimited as Client['request'];
}
