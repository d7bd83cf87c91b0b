import { isObject, type JsonObject } from '../../base/json-value.ts';
import { cutText } from '../../base/text/cut-text.ts';
import { isPersonsMessage, messageText, outputText } from '../../model/embedded/conversation-state.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import { isMissingOutput } from '../prompt/prompt-items.ts';

/** The most characters of the user's messages, and of everything else: a flood of output cannot displace what the user said. */
const USER_CHARS_MAX = 40_000;
const OTHER_CHARS_MAX = 60_000;
/** The most characters of one entry. Longer ones lose their middle. */
const ENTRY_CHARS_MAX = { user: 8_000, other: 4_000 };
/** The characters beside a cut that are read to recognize secrets at the cut. */
const MARGIN_CHARS = 400;

/** Hides the secrets in a text. `data`: in a text that somebody wrote or a tool returned. `code`: in one that is executed. */
export interface SecretMasks {
  data(text: string): string;
  code(text: string): string;
}

/** The author of an entry of the transcript. `context`: from the server or from files of the project, not from a person. */
type Author = 'user' | 'approval' | 'context' | 'agent' | 'tool';

interface Entry {
  from: Author;
  /** Further facts about the entry. */
  facts: JsonObject;
  text: string;
  mask: keyof SecretMasks;
}

/** The beginning of the message that tells that a person has overruled a denial. */
export const APPROVAL_TAG = '<approved_action>';

/**
 * A thread's history for the guardian: a line of JSON for each entry, so no text can end its entry. The oldest entries are left out
 * if there is too much. Reasoning and images are left out.
 */
export function transcript(history: readonly ResponseItem[], masks: SecretMasks): string {
  const left = { user: USER_CHARS_MAX, other: OTHER_CHARS_MAX };
  const lines: string[] = [];
  let omitted = 0;
  for (const item of history.toReversed()) {
    const entry = entryOf(item);
    if (entry === null) continue;
    const kind = entry.from === 'user' || entry.from === 'approval' ? 'user' : 'other';
    const line = left[kind] <= 0 ? null : entryLine(entry, { masks, charsMax: ENTRY_CHARS_MAX[kind] });
    left[kind] -= line?.length ?? 0;
    if (line === null || left[kind] < 0) {
      left[kind] = 0;
      omitted++;
    } else lines.push(line);
  }
  if (omitted > 0) lines.push(JSON.stringify({ omitted: `${omitted} earlier entries` }));
  return lines.reverse().join('\n');
}

/** Makes characters visible that are not shown, or that change the order of others. */
export function visibleJson(value: object): string {
  return JSON.stringify(value).replace(HIDDEN_CHARACTERS, (hidden) =>
    [...Array(hidden.length).keys()].map((at) => `\\u${hidden.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  );
}

const HIDDEN_CHARACTERS = /[\p{Cf}\p{Cc}\p{Variation_Selector}\u2028\u2029]/gu;

function entryLine({ from, facts, text, mask }: Entry, { masks, charsMax }: { masks: SecretMasks; charsMax: number }): string {
  return visibleJson({ from, ...facts, text: shortened(text, charsMax, masks[mask]) });
}

/** The text without secrets, and without its middle if it is too long. */
function shortened(text: string, charsMax: number, mask: (text: string) => string): string {
  if (text.length <= 2 * charsMax) {
    const whole = mask(text);
    return whole.length <= charsMax ? whole : withoutMiddle(whole, whole, { charsMax, length: whole.length });
  }
  const half = charsMax / 2 + MARGIN_CHARS;
  return withoutMiddle(mask(text.slice(0, half)), mask(text.slice(-half)), { charsMax, length: text.length });
}

function withoutMiddle(start: string, end: string, { charsMax, length }: { charsMax: number; length: number }): string {
  const half = Math.floor(charsMax / 2);
  return `${cutText(start, half)} [… ${length - 2 * half} characters left out …] ${end.slice(-half).replace(/^[\uDC00-\uDFFF]/, '')}`;
}

function entryOf(item: ResponseItem): Entry | null {
  switch (item.type) {
    case 'message':
      return messageEntry(item);
    case 'function_call':
      return call(item.name, item.call_id, item.arguments);
    case 'custom_tool_call':
      return call(item.name, item.call_id, item.input);
    case 'local_shell_call':
      return call('local_shell', item.call_id ?? null, JSON.stringify(item.action));
    case 'function_call_output':
    case 'custom_tool_call_output':
      if (isMissingOutput(item)) return null;
      return { from: 'tool', facts: { call: item.call_id ?? null }, text: outputText(item.output), mask: 'data' };
    case 'web_search_call':
      return { from: 'agent', facts: { tool: 'web_search' }, text: isObject(item.action) ? JSON.stringify(item.action) : '', mask: 'data' };
    default:
      return null;
  }
}

function messageEntry(item: Extract<ResponseItem, { type: 'message' }>): Entry | null {
  const text = messageText(item);
  const entry = (from: Author): Entry => ({ from, facts: {}, text, mask: 'data' });
  if (item.role === 'assistant') return text === '' ? null : entry('agent');
  if (item.role === 'user') return entry(isPersonsMessage(item) ? 'user' : 'context');
  // Other messages for the model, such as its instructions, say nothing about what the user wants.
  return text.startsWith(APPROVAL_TAG) ? entry('approval') : null;
}

function call(tool: string, id: string | null, text: string): Entry {
  return { from: 'agent', facts: { tool, call: id }, text, mask: 'code' };
}
