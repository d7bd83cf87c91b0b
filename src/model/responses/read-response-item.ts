import { isObject } from '../../base/json-value.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';

type Fields = Record<string, unknown>;
type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isTextOrAbsent: Check = (value) => value === undefined || value === null || typeof value === 'string';
const isPart: Check = (value) => isObject(value) && isText(value.type) && isTextOrAbsent(value.text);
const isParts: Check = (value) => Array.isArray(value) && value.every(isPart);
const isActionOrAbsent: Check = (value) => value === undefined || value === null || (isObject(value) && isText(value.type));

/** What the server reads of each type of item; types that are not here are passed on as they are. */
const CHECKS = new Map<string, Record<string, Check>>([
  ['message', { id: isTextOrAbsent, role: isText, content: isParts, phase: isTextOrAbsent }],
  [
    'reasoning',
    {
      id: isTextOrAbsent,
      summary: isParts,
      content: (value) => value === undefined || value === null || isParts(value),
      encrypted_content: isTextOrAbsent,
    },
  ],
  ['function_call', { id: isTextOrAbsent, call_id: isText, name: isText, arguments: isText, namespace: isTextOrAbsent }],
  ['custom_tool_call', { id: isTextOrAbsent, call_id: isText, name: isText, input: isText }],
  ['local_shell_call', { id: isTextOrAbsent, call_id: isTextOrAbsent, action: isObject, status: isText }],
  ['web_search_call', { id: isTextOrAbsent, action: isActionOrAbsent, status: isTextOrAbsent }],
  ['image_generation_call', { id: isText, result: isTextOrAbsent, status: isTextOrAbsent }],
]);

/** An item as a provider sent it, or `problem`: which field is wrong; null: it is no item at all. */
export function readResponseItem(value: unknown): { item: ResponseItem; problem: null } | { item: null; problem: string } | null {
  if (!isObject(value) || typeof value.type !== 'string') return null;
  const fields = completed(value);
  const checks = Object.entries(CHECKS.get(value.type) ?? {});
  const wrong = checks.find(([name, check]) => !check(fields[name]));
  if (wrong !== undefined) return { item: null, problem: `sent an item "${value.type}" with a wrong "${wrong[0]}"` };
  return { item: fields as unknown as ResponseItem, problem: null };
}

/** Providers leave out lists that are empty, and put a refusal where a text would be. */
function completed(item: Fields): Fields {
  if (item.type === 'reasoning') return { ...item, summary: item.summary ?? [] };
  if (item.type !== 'message') return item;
  const content = item.content ?? [];
  return { ...item, content: Array.isArray(content) ? content.map(withoutRefusal) : content };
}

function withoutRefusal(part: unknown): unknown {
  return isObject(part) && part.type === 'refusal' ? { type: 'output_text', text: part.refusal } : part;
}
