import { isObject } from '../base/json-value.ts';
import { explainProblem } from './explain-problem.ts';
import { methods } from './generated/methods.ts';
import { validateHandshake } from './generated/validate-handshake.js';
import type { Validator } from './generated/validate-params.js';

type Validators = Readonly<Record<string, Validator>>;

/** All but the handshake's are loaded with the first request that needs them: the server's start does not wait for them. */
let loaded: Validators | null = null;
let loading: Promise<Validators> | null = null;

/**
 * Null when the params of a served method are valid, else a sentence: which field, what was expected, what was found. At
 * once, but for the first requests after the handshake, which wait for the validators and go on in their order.
 */
export function paramsProblem(method: string, params: unknown): string | null | Promise<string | null> {
  const validators = Object.hasOwn(validateHandshake, method) ? validateHandshake : loaded;
  if (validators !== null) return problemBy(validators, method, params);
  loading ??= import('./generated/validate-params.js').then(({ validateParams }) => {
    loaded = validateParams;
    return validateParams;
  });
  return loading.then((others) => problemBy(others, method, params));
}

/**
 * Null when what a client answered to this request of the server's is valid, else a sentence that says what is wrong. The
 * validators are loaded with the first answer.
 */
export async function answerProblem(method: string, result: unknown): Promise<string | null> {
  const { validateAnswer } = await import('./generated/validate-answers.js');
  return problemBy(validateAnswer, method, result);
}

/** The same, with validators that are there. */
function problemBy(validators: Validators, method: string, params: unknown): string | null {
  const validate = Object.hasOwn(validators, method) ? (validators[method] as Validator) : null;
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
