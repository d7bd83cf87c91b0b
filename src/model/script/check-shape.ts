import { isObject } from '../../base/json-value.ts';
import { suggestKey } from '../../base/text/suggest-key.ts';
import { quoteText, showValue } from '../../protocol/show-value.ts';
import { expectation, tagOf } from './expectation.ts';
import type { ScriptShape } from './script-shape.ts';

/** The keys and indexes that lead to a value. */
export type ShapePath = readonly (string | number)[];

export interface ShapeProblem {
  path: ShapePath;
  /** Whether the problem is the last key of the path, and not its value. */
  onKey: boolean;
  text: string;
}

/**
 * Checks a value against a schema and returns all problems in words for the script's author; the
 * list is empty if and only if the value is valid. For a union it checks the variant that the value
 * is meant to be: required keys tell objects apart.
 */
export function checkShape(value: unknown, root: ScriptShape): ShapeProblem[] {
  const checker = new Checker(root);
  checker.check(value, root, []);
  return checker.problems;
}

class Checker {
  readonly problems: ShapeProblem[] = [];
  readonly #root: ScriptShape;

  constructor(root: ScriptShape) {
    this.#root = root;
  }

  check(value: unknown, shape: ScriptShape, path: ShapePath): void {
    const variants = this.#variants(shape);
    const possible = variants.filter((variant) => isOfKind(value, variant));
    if (isObject(value) && possible.length > 1) this.#checkTagged(value, possible, path);
    else if (possible[0] !== undefined) this.#checkVariant(value, possible[0], path);
    else this.#report(path, `expected ${expectation(variants)}, found ${found(value, variants)}`);
  }

  /** Resolves references and unions to the schemas that they stand for. */
  #variants(shape: ScriptShape): ScriptShape[] {
    if (shape.$ref !== undefined)
      return this.#variants(
        this.#root.definitions?.[shape.$ref.replace('#/definitions/', '')] ?? {},
      );
    return shape.anyOf === undefined
      ? [shape]
      : shape.anyOf.flatMap((variant) => this.#variants(variant));
  }

  #checkTagged(value: Record<string, unknown>, variants: ScriptShape[], path: ShapePath): void {
    const meant = variants.filter(({ required = [] }) =>
      required.every((key) => Object.hasOwn(value, key)),
    );
    const nearest = meant.toSorted(
      (one, other) => (other.required?.length ?? 0) - (one.required?.length ?? 0),
    )[0];
    if (nearest === undefined) {
      this.#checkUntagged(value, variants, path);
      return;
    }
    const tag = tagOf(nearest);
    const other = meant.map(tagOf).find((each) => each !== tag);
    if (other === undefined) this.#checkMeant(value, nearest, path);
    else {
      this.#report(
        [...path, other],
        `"${other}" and "${tag}" cannot be in one entry: make two entries`,
        true,
      );
      this.#checkKnown(value, variants, path);
    }
  }

  #checkMeant(value: Record<string, unknown>, shape: ScriptShape, path: ShapePath): void {
    const { properties = {} } = shape;
    const misplaced = Object.keys(value).filter(
      (key) => this.#isBesideReply(key) && !Object.hasOwn(properties, key),
    );
    for (const key of misplaced)
      this.#report([...path, key], besideReplyText(key, tagOf(shape)), true);
    this.#checkObject(
      Object.fromEntries(Object.entries(value).filter(([key]) => !misplaced.includes(key))),
      shape,
      path,
    );
  }

  /** Checks an object that has none of the keys which tell the variants apart. */
  #checkUntagged(value: Record<string, unknown>, variants: ScriptShape[], path: ShapePath): void {
    const tagKeys = [...new Set(variants.map(tagOf))];
    const tags = `one of ${tagKeys.join(', ')}`;
    const known = new Set(variants.flatMap(({ properties = {} }) => Object.keys(properties)));
    const strange = Object.keys(value).filter((key) => !known.has(key));
    const [first] = Object.keys(value);
    const besideReply = Object.keys(value).find(
      (key) => this.#isBesideReply(key) && known.has(key),
    );
    for (const key of strange) {
      const unknown = () =>
        `unknown key ${quoteText(key)}: expected ${tags}${colonHint(key)}${meant(key, tagKeys)}`;
      const text = this.#isBesideReply(key) ? besideReplyText(key) : unknown();
      this.#report([...path, key], text, true);
    }
    if (strange.length === 0)
      this.#report(
        path,
        besideReply === undefined
          ? `expected ${tags}${first === undefined ? '' : ` beside "${first}"`}`
          : `"${besideReply}" needs "reply" beside it`,
      );
    this.#checkKnown(value, variants, path);
  }

  /** Checks the values of known keys. A key means the same in all variants that have it. */
  #checkKnown(value: Record<string, unknown>, variants: ScriptShape[], path: ShapePath): void {
    for (const [key, member] of Object.entries(value)) {
      const owner = variants.find(({ properties = {} }) => Object.hasOwn(properties, key));
      if (owner !== undefined) this.#checkMember(member, owner, [...path, key]);
    }
  }

  /** Whether a key belongs to a whole response, not to a step. */
  #isBesideReply(key: string): boolean {
    const { Rule: { properties = {} } = {} } = this.#root.definitions ?? {};
    return key !== 'reply' && Object.hasOwn(properties, key);
  }

  #checkVariant(value: unknown, shape: ScriptShape, path: ShapePath): void {
    if (Array.isArray(value)) {
      if (value.length < (shape.minItems ?? 0)) this.#report(path, 'expected a non-empty array');
      for (const [index, element] of value.entries())
        this.check(element, shape.items ?? {}, [...path, index]);
    } else if (isObject(value)) this.#checkObject(value, shape, path);
    else if (!fits(value, shape))
      this.#report(path, `expected ${expectation([shape])}, found ${found(value, [shape])}`);
  }

  #checkObject(value: Record<string, unknown>, shape: ScriptShape, path: ShapePath): void {
    const { required = [], minProperties = 0 } = shape;
    for (const [key, member] of Object.entries(value))
      this.#checkMember(member, shape, [...path, key]);
    for (const key of required)
      if (!Object.hasOwn(value, key)) this.#report(path, `"${key}" is missing`);
    if (Object.keys(value).length < minProperties)
      this.#report(path, 'expected a non-empty object');
  }

  #checkMember(
    member: unknown,
    { properties = {}, additionalProperties = true }: ScriptShape,
    path: ShapePath,
  ): void {
    const key = String(path.at(-1));
    const known = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (known !== undefined) this.check(member, known, path);
    else if (additionalProperties === false) {
      const keys = Object.keys(properties);
      const expected = `${keys.length > 1 ? 'one of ' : ''}${keys.join(', ')}`;
      this.#report(
        path,
        `unknown key ${quoteText(key)}: expected ${expected}${meant(key, keys)}`,
        true,
      );
    } else if (additionalProperties !== true) this.check(member, additionalProperties, path);
  }

  #report(path: ShapePath, text: string, onKey = false): void {
    this.problems.push({ path, onKey, text });
  }
}

/** Whether a value has the schema's type, valid or not. */
function isOfKind(value: unknown, shape: ScriptShape): boolean {
  if (value === null) return isAny(shape);
  if (Array.isArray(value)) return shape.type === 'array' || isAny(shape);
  if (isObject(value)) return shape.type === 'object' || isAny(shape);
  if (typeof value === 'number' && shape.type === 'integer') return true;
  return typeof value === shape.type || fits(value, shape);
}

function fits(value: unknown, shape: ScriptShape): boolean {
  if (shape.const !== undefined) return value === shape.const;
  if (shape.enum !== undefined) return shape.enum.includes(value);
  if (typeof value === 'string')
    return (shape.type === 'string' && value.length >= (shape.minLength ?? 0)) || isAny(shape);
  if (typeof value === 'boolean') return shape.type === 'boolean' || isAny(shape);
  if (typeof value !== 'number' || isAny(shape)) return isAny(shape);
  return (
    shape.type === 'integer' &&
    Number.isInteger(value) &&
    value >= (shape.minimum ?? value) &&
    value <= (shape.maximum ?? value)
  );
}

function isAny({ type, const: constant, enum: words }: ScriptShape): boolean {
  return type === undefined && constant === undefined && words === undefined;
}

/**
 * A value in words. The hint is for YAML, which reads some unquoted strings as numbers or booleans.
 */
function found(value: unknown, expected: readonly ScriptShape[]): string {
  if (value === null || value === undefined) return 'nothing';
  const isUnquoted = typeof value !== 'object' && typeof value !== 'string';
  const hint =
    isUnquoted && expected.some(({ type }) => type === 'string') ? ' (a string needs quotes)' : '';
  return `${showValue(value)}${hint}${typeof value === 'string' ? meant(value, expected.flatMap(wordsOf)) : ''}`;
}

/** The words that a value may be. */
function wordsOf({ type, enum: words, const: constant }: ScriptShape): string[] {
  return [
    ...(words ?? []),
    ...(constant === undefined ? [] : [constant]),
    ...(type === 'boolean' ? [true, false] : []),
  ].map(String);
}

/** Advice about a misspelled word. */
function meant(word: string, known: readonly string[]): string {
  const nearest = suggestKey(word, known);
  return nearest === null ? '' : `: did you mean ${nearest}?`;
}

/**
 * Advice about a key of a whole response inside a step. `tag`: the step's own key, if it has one.
 */
function besideReplyText(key: string, tag = ''): string {
  return `"${key}" belongs beside "reply", and the step inside "reply": { ${key}: …, reply: ${tag === '' ? '…' : `{ ${tag}: … }`} }`;
}

/** YAML reads `- Note: this` as an object. */
function colonHint(key: string): string {
  return /^[a-z_]+$/.test(key) ? '' : ' (a string with a colon needs quotes)';
}
