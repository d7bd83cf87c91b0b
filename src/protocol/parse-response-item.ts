import { isObject } from '../base/json-value.ts';
import { explainProblem } from './explain-problem.ts';
import type { ResponseItem } from './generated/types.ts';
import { validateItem } from './generated/validate-params.js';

/**
 * Parses a value as an item of a model's conversation; `item` is null if this version does not know
 * the type of the item. `problem` says which field is wrong, and why.
 */
export function parseResponseItem(
  value: unknown,
): { item: ResponseItem | null } | { problem: string } {
  if (isResponseItem(value)) return { item: value };
  const problem = explainProblem(validateItem, value, '');
  const isOfUnknownType =
    problem.startsWith('type: ') && isObject(value) && typeof value.type === 'string';
  return isOfUnknownType ? { item: null } : { problem };
}

function isResponseItem(value: unknown): value is ResponseItem {
  return validateItem(value);
}
