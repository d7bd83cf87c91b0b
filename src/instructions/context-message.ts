import type { ResponseItem } from '../protocol/generated/types.ts';

/** A message that the server, not a person, puts before the model; each text is a part of its own. */
export function contextMessage(role: 'developer' | 'user', texts: readonly string[]): ResponseItem {
  return { type: 'message', role, content: texts.map((text) => ({ type: 'input_text', text })) };
}

/** Text as it may stand inside a tag. */
export function escapeTags(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
