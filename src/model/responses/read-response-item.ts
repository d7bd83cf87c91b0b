import { isObject } from '../../base/json-value.ts';
import { explainProblem } from '../../protocol/explain-problem.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import { validateProvidedItem } from '../../protocol/generated/validate-provided-item.js';

/**
 * Reads an item as a provider sends it; returns null if the value is not an item. `problem` says
 * which field is wrong, and why. Types of items and fields that this version does not know are
 * kept.
 */
export function readResponseItem(
  value: unknown,
): { item: ResponseItem; problem: null } | { item: null; problem: string } | null {
  if (!isObject(value) || typeof value.type !== 'string') return null;
  const item = completed(value);
  const problem = problemOf(item, value.type);
  return problem === null
    ? { item: item as unknown as ResponseItem, problem }
    : { item: null, problem };
}

function problemOf(item: Record<string, unknown>, type: string): string | null {
  const validate = Object.hasOwn(validateProvidedItem, type)
    ? validateProvidedItem[type]
    : undefined;
  return validate === undefined || validate(item)
    ? null
    : `an invalid "${type}" item: ${explainProblem(validate, item, '')}`;
}

/** Providers leave out empty arrays, and send a refusal in place of text. */
function completed(item: Record<string, unknown>): Record<string, unknown> {
  if (item.type === 'reasoning') return { ...item, summary: item.summary ?? [] };
  if (item.type !== 'message') return item;
  const content = item.content ?? [];
  return { ...item, content: Array.isArray(content) ? content.map(withoutRefusal) : content };
}

function withoutRefusal(part: unknown): unknown {
  return isObject(part) && part.type === 'refusal'
    ? { type: 'output_text', text: part.refusal }
    : part;
}
