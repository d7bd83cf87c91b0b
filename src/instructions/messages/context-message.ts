import type { ResponseItem } from '../../protocol/generated/types.ts';

/** A message from the server, not from a person; each string is one part. */
export function contextMessage(role: 'developer' | 'user', texts: readonly string[]): ResponseItem {
  return { type: 'message', role, content: texts.map((text) => ({ type: 'input_text', text })) };
}

/** Escapes text so that it can be put inside a tag. */
export function escapeTags(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
