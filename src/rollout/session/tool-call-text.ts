import { cutText } from '../../base/text/cut-text.ts';
import { jsonWeight } from '../../base/text/json-pieces.ts';
import { Fields } from '../fields.ts';

/**
 * The longest text of an argument or of a result. The rest tells a model little about what was
 * done.
 */
const PART_CHARS_MAX = 10_000;
const ARGUMENTS_MAX = 50;
const PARTS_MAX = 200;

// The marks are those with which Codex imports sessions.

/**
 * A call of a tool of another agent as text, since heddle has no such tool: a model that reads it
 * as a call would call it again.
 */
export function toolCallText(call: Fields): string {
  const input = call.object('input');
  const lines = input
    .keys()
    .slice(0, ARGUMENTS_MAX)
    .map((key) => `${key}: ${shown(input.raw(key))}`);
  return [
    `[external_agent_tool_call: ${call.text('name') ?? 'unknown'}]`,
    ...lines,
    '[/external_agent_tool_call]',
  ].join('\n');
}

/** The result of such a call as text. */
export function toolResultText(result: Fields): string {
  const text =
    result.text('content') ?? result.list('content').slice(0, PARTS_MAX).map(partText).join('\n');
  const isError = result.flag('is_error') === true;
  return [
    `[external_agent_tool_result${isError ? ': error' : ''}]`,
    cut(text),
    '[/external_agent_tool_result]',
  ].join('\n');
}

function partText(value: unknown): string {
  const part = new Fields(value);
  return part.text('text') ?? `[${part.text('type') ?? 'unknown'}]`;
}

function shown(value: unknown): string {
  if (typeof value === 'string') return cut(value);
  return jsonWeight(value, PART_CHARS_MAX) > PART_CHARS_MAX
    ? '[a long value]'
    : (JSON.stringify(value) ?? '');
}

function cut(text: string): string {
  const kept = cutText(text, PART_CHARS_MAX);
  return kept.length === text.length
    ? text
    : `${kept}\n[${text.length - kept.length} more characters]`;
}
