import { isObject } from '../base/json-value.ts';
import type { ResponseItem } from './generated/types.ts';
import { validateParams } from './generated/validate-params.js';
import { problemBy } from './params-problem.ts';

/** The place of a response item in the params of a served method, whose validator checks it. */
const PLACE = 'params.history[0]';

/**
 * Parses a value as a response item. `item` is null if the item's type is unknown. `problem` says which field is wrong, and
 * why.
 */
export function parseResponseItem(value: unknown): { item: ResponseItem | null } | { problem: string } {
  if (isResponseItem(value)) return { item: value };
  const problem = problemOf(value);
  const isOfUnknownType = problem.startsWith('type: ') && isObject(value) && typeof value.type === 'string';
  return isOfUnknownType ? { item: null } : { problem };
}

function isResponseItem(value: unknown): value is ResponseItem {
  return problemBy(validateParams, 'thread/resume', { threadId: '', history: [value] }) === null;
}

function problemOf(value: unknown): string {
  const problem = problemBy(validateParams, 'thread/resume', { threadId: '', history: [value] }) ?? '';
  return problem.startsWith(PLACE) ? problem.slice(PLACE.length).replace(/^(\.|: )/, '') : problem;
}
