import { cutText } from '../../base/text/cut-text.ts';

const ID_CHARS_MAX = 200;

/** The provider's id of a response, as a part of an event. Empty if the value is not an id. */
export function responseId(id: unknown): { responseId?: string } {
  return typeof id === 'string' && id !== '' ? { responseId: cutText(id, ID_CHARS_MAX) } : {};
}
