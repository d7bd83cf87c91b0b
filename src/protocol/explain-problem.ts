import { isObject } from '../base/json-value.ts';
import type { ValidationError, Validator } from './generated/validate-params.js';
import { showValue } from './show-value.ts';

const TYPE_NAMES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'a boolean',
  object: 'an object',
  array: 'an array',
};

/**
 * Explains in one sentence why a validator refused params: which field is wrong, the expected value
 * and the found one. `root` names the params in the sentence; if it is empty, fields are named by
 * their own keys alone.
 */
export function explainProblem(validate: Validator, params: unknown, root = 'params'): string {
  if (params === undefined) return 'params is missing: an object is expected';
  validate(params);
  const errors = deepest(validate.errors ?? []);
  const wrong = errors.filter((error) => error.keyword !== 'required');
  if (wrong[0] === undefined) return explainMissing(validate, params, { errors, root });
  const path = pathOf(wrong[0]);
  const here = wrong.filter((error) => error.instancePath === wrong[0]?.instancePath);
  const field = fieldName(params, path, root);
  const choices =
    typeNames(here).join() === TYPE_NAMES.string ? stringsAt(validate, params, path) : [];
  const expected = choices.length > 0 ? `: expected ${oneOf(choices)}` : '';
  return `${field === '' ? '' : `${field}: `}${mismatch(valueAt(params, path), here)}${expected}`;
}

/**
 * The errors that stand deepest. In a union, these belong to the variant that the value is closest
 * to.
 */
function deepest(errors: ValidationError[]): ValidationError[] {
  const causes = errors.filter((error) => error.keyword !== 'anyOf');
  const depth = Math.max(...causes.map((error) => pathOf(error).length));
  return causes.filter((error) => pathOf(error).length === depth);
}

function explainMissing(
  validate: Validator,
  params: unknown,
  { errors, root }: { errors: ValidationError[]; root: string },
): string {
  const [first, ...others] = errors;
  if (first === undefined) return 'params is invalid';
  const path = pathOf(first);
  const alternatives = others.map((error) => ` or ${missingKey(error)}`).join('');
  const expected = expectedAt(validate, params, path);
  return `${fieldName(params, path, root)}${alternatives} is missing${expected === null ? '' : `: ${expected} is expected`}`;
}

/**
 * The type or values that a validator expects at a path. Found by validating with a value there
 * that is never valid.
 */
function expectedAt(validate: Validator, params: unknown, path: string[]): string | null {
  validate(withValueAt(params, path, Symbol('nothing')));
  const here = (validate.errors ?? []).filter(
    (error) => pathOf(error).join('/') === path.join('/'),
  );
  const types = typeNames(here);
  const values = allowedValues(here);
  if (values.length > 0) return oneOf(values);
  return types.length > 0 ? types.join(' or ') : null;
}

/**
 * The strings that a validator allows at a path, if they are few. Found by validating with a string
 * there that is never valid.
 */
function stringsAt(validate: Validator, params: unknown, path: string[]): string[] {
  validate(withValueAt(params, path, '\0'));
  return allowedValues(
    (validate.errors ?? []).filter((error) => pathOf(error).join('/') === path.join('/')),
  );
}

function mismatch(value: unknown, errors: ValidationError[]): string {
  const found = showValue(value);
  const values = allowedValues(errors);
  if (values.length > 0 && typeof value === 'string')
    return `${found} is ${values.length === 1 ? 'not' : 'none of'} ${values.join(', ')}`;
  const limit = errors.find((error) => error.keyword === 'minimum' || error.keyword === 'maximum');
  if (limit)
    return `${found} is ${limit.keyword === 'minimum' ? 'less' : 'more'} than ${limit.params.limit}`;
  if (errors.some((error) => error.keyword === 'minLength'))
    return 'an empty string is not allowed';
  const types = typeNames(errors);
  return types.length > 0 ? `${found} is not ${types.join(' or ')}` : `${found} is not allowed`;
}

function oneOf(values: readonly string[]): string {
  return values.length === 1 ? `${values[0]}` : `one of ${values.join(', ')}`;
}

function typeNames(errors: ValidationError[]): string[] {
  const types = errors
    .filter((error) => error.keyword === 'type')
    .flatMap((error) => error.params.type as string | string[]);
  return [...new Set(types)].flatMap((type) => TYPE_NAMES[type] ?? []);
}

function allowedValues(errors: ValidationError[]): string[] {
  const values = errors.flatMap((error) => {
    if (error.keyword === 'const') return [error.params.allowedValue as unknown];
    return error.keyword === 'enum' ? (error.params.allowedValues as unknown[]) : [];
  });
  return [...new Set(values)]
    .filter((value) => value !== null)
    .map((value) => JSON.stringify(value));
}

/** The keys that lead to where an error stands; a missing key counts. */
function pathOf(error: ValidationError): string[] {
  const keys = error.instancePath.split('/').slice(1).map(unescapePointer);
  return error.keyword === 'required' ? [...keys, missingKey(error)] : keys;
}

function missingKey(error: ValidationError): string {
  return String(error.params.missingProperty);
}

function unescapePointer(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** `params.input[0].text` */
function fieldName(params: unknown, path: string[], root: string): string {
  let name = root;
  let value = params;
  for (const key of path) {
    if (Array.isArray(value)) name += `[${key}]`;
    else name += /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${showValue(key)}]`;
    value = memberOf(value, key);
  }
  return name.replace(/^\./, '');
}

function valueAt(params: unknown, path: string[]): unknown {
  return path.reduce(memberOf, params);
}

function memberOf(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value[Number(key)];
  return isObject(value) ? value[key] : undefined;
}

/** A copy with another value at a path. The copy shares everything that is not on the path. */
function withValueAt(value: unknown, path: string[], replacement: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return replacement;
  const member = withValueAt(memberOf(value, key), rest, replacement);
  if (Array.isArray(value)) return value.with(Number(key), member);
  return isObject(value) ? { ...value, [key]: member } : member;
}
