import type { ResponseItem } from '../protocol/generated/types.ts';

/** The text of a message's parts, one per line; empty if the item is not a message. */
export function messageText(item: ResponseItem): string {
  if (item.type !== 'message') return '';
  return item.content
    .map((part) => ('text' in part ? part.text : ''))
    .filter((text) => text !== '')
    .join('\n');
}

/**
 * The text of an output, which is a string, an array of parts, or an object with one of these as
 * its `body`. `note`: in the place of parts that are not text.
 */
export function outputText(output: unknown, note = '[not text]'): string {
  if (typeof output === 'string') return output;
  if (Array.isArray(output)) return output.map((part) => partText(part) ?? note).join('\n');
  return typeof output === 'object' && output !== null && 'body' in output
    ? outputText(output.body, note)
    : '';
}

function partText(part: unknown): string | null {
  return typeof part === 'object' &&
    part !== null &&
    'text' in part &&
    typeof part.text === 'string'
    ? part.text
    : null;
}
