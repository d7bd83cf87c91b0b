import type { ResponseItem } from '../protocol/generated/types.ts';
import { parseResponseItem } from '../protocol/parse-response-item.ts';
import type { Fields } from './fields.ts';

/** A private field of the server that wrote the file. Models do not take it. */
const PRIVATE_FIELD = 'internal_chat_message_metadata_passthrough';

/**
 * Reads an item that a model read or wrote. Returns null if it is not an item that a client may
 * send as `history`.
 */
export function rolloutResponseItem(payload: Fields): ResponseItem | null {
  const keys = payload.keys().filter((key) => key !== PRIVATE_FIELD);
  const parsed = parseResponseItem(Object.fromEntries(keys.map((key) => [key, payload.raw(key)])));
  return 'item' in parsed ? parsed.item : null;
}
