import { isObject } from '../base/json.ts';
import { explainProblem } from './explain-problem.ts';
import { methods } from './generated/methods.ts';
import { type Validator, validateParams } from './generated/validate-params.js';

/** Null when the params of a served method are valid, else a sentence: which field, what was expected, what was found. */
export function paramsProblem(method: string, params: unknown): string | null {
  const validate = Object.hasOwn(validateParams, method) ? (validateParams[method] as Validator) : null;
  if (validate !== null) return validate(params) ? null : explainProblem(validate, params);
  if (params === undefined || params === null || isObject(params)) return null;
  return 'params is not an object';
}

/**
 * The first field in valid params that needs the experimental API, as its error names it (`thread/start.dynamicTools`);
 * null when there is none. A field that is null or false is as if absent.
 */
export function experimentalField(method: string, params: unknown): string | null {
  const fields = methods[method]?.experimentalFields ?? [];
  return fields.find((field) => isPresent(params, field.path))?.name ?? null;
}

function isPresent(params: unknown, path: readonly string[]): boolean {
  let value = params;
  for (const key of path) value = isObject(value) ? value[key] : undefined;
  return value !== undefined && value !== null && value !== false;
}
