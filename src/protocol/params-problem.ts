import { isObject } from '../base/json-value.ts';
import { Once } from '../base/loading/once.ts';
import { explainProblem } from './explain-problem.ts';
import { methods } from './generated/methods.ts';
import { validateHandshake } from './generated/validate-handshake.js';
import type { Validator } from './generated/validate-params.js';

type Validators = Readonly<Record<string, Validator>>;

/**
 * The validators of all methods but the handshake. Loaded with the first request that needs them,
 * so the server starts sooner.
 */
let loaded: Validators | null = null;
const loading = new Once(async () => {
  const { validateParams } = await import('./generated/validate-params.js');
  loaded = validateParams;
  return validateParams as Validators;
});

/**
 * Returns null if the params of a served method are valid, else a sentence: which field is wrong,
 * the expected value and the found one. Returns a promise only for the first requests after the
 * handshake, which wait for the validators in their order.
 */
export function paramsProblem(
  method: string,
  params: unknown,
): string | null | Promise<string | null> {
  const validators = Object.hasOwn(validateHandshake, method) ? validateHandshake : loaded;
  if (validators !== null) return problemBy(validators, method, params);
  return loading.get().then((others) => problemBy(others, method, params));
}

/**
 * Resolves with null if a client's result for this request of the server is valid, else with a
 * sentence that says what is wrong. The validators are loaded with the first response.
 */
export async function answerProblem(method: string, result: unknown): Promise<string | null> {
  const { validateAnswer } = await import('./generated/validate-answers.js');
  return problemBy(validateAnswer, method, result);
}

/** The same as `paramsProblem`, with validators that are already loaded. */
function problemBy(validators: Validators, method: string, params: unknown): string | null {
  const validate = Object.hasOwn(validators, method) ? (validators[method] as Validator) : null;
  if (validate !== null) return validate(params) ? null : explainProblem(validate, params);
  if (params === undefined || params === null || isObject(params)) return null;
  return 'params is not an object';
}

/**
 * The first field in valid params that needs the experimental API, as its error names it
 * (`thread/start.dynamicTools`). Returns null if there is none. A field that is null or false
 * counts as absent.
 */
export function experimentalField(method: string, params: unknown): string | null {
  const fields = methods[method]?.experimentalFields ?? [];
  return fields.find((field) => isPresent(params, field.path))?.name ?? null;
}

/**
 * The first field in valid params that this server does not support, as its error names it. Returns
 * null if there is none. A field that is null, false or empty counts as absent.
 */
export function notServedField(method: string, params: unknown): string | null {
  const fields = methods[method]?.notServedFields ?? [];
  return (
    fields.find(({ path }) => isPresent(params, path) && !isEmpty(valueAt(params, path)))?.name ??
    null
  );
}

function isEmpty(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0);
}

function isPresent(params: unknown, path: readonly string[]): boolean {
  const value = valueAt(params, path);
  return value !== undefined && value !== null && value !== false;
}

function valueAt(params: unknown, path: readonly string[]): unknown {
  let value = params;
  for (const key of path) value = isObject(value) ? value[key] : undefined;
  return value;
}
