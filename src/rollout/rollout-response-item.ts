import type { ResponseItem } from '../protocol/generated/types.ts';
import { parseResponseItem } from '../protocol/parse-response-item.ts';
import type { Fields } from './fields.ts';

/** Notes of the server that wrote the file, which no model takes. */
const PRIVATE_FIELD = 'internal_chat_message_metadata_passthrough';

/** What a model read or said; null where it is nothing that a client could hand in as `history`. */
export function rolloutResponseItem(payload: Fields): ResponseItem | null {
  const keys = payload.keys().filter((key) => key !== PRIVATE_FIELD);
  const parsed = parseResponseItem(Object.fromEntries(keys.map((key) => [key, payload.raw(key)])));
  return 'item' in parsed ? parsed.item : null;
}
