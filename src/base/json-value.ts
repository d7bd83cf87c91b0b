export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/** Whether a value from JSON or TOML is an object, and not null or an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses JSON. Returns undefined, which JSON cannot express, if the string is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A string, with the colon that makes it a key, or the begin or end of an object. */
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}]/g;

/**
 * Parses JSON in which no object has a key twice, however the key is written. Returns undefined if
 * the text is anything else.
 */
export function strictJson(text: string): unknown {
  const value = parsedJson(text);
  return value === undefined || repeatsKey(text) ? undefined : value;
}

/** `text` is valid JSON. */
function repeatsKey(text: string): boolean {
  const open: Set<string>[] = [];
  for (const [token, string = '', colon] of text.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon !== undefined) {
      const keys = open.at(-1);
      const key: string = JSON.parse(string);
      if (keys?.has(key)) return true;
      keys?.add(key);
    }
  }
  return false;
}

/**
 * Looks at a value in JSON data. `key`: that of the member that it is or is an element of; null:
 * there is none. Returns whether to look into the value; null ends the walk.
 */
type Visit = (
  part: unknown,
  key: string | null,
  depth: number,
  isElement: boolean,
) => boolean | null;

/** Visits a value and then the values in it. Returns whether no visit ended the walk. */
export function walkJson(value: unknown, visit: Visit): boolean {
  const looksInto = visit(value, null, 0, false);
  return looksInto === true ? walkInto(value, visit, null, 1) : looksInto === false;
}

function walkInto(part: unknown, visit: Visit, key: string | null, depth: number): boolean {
  if (typeof part !== 'object' || part === null) return true;
  if (Array.isArray(part)) return walkList(part, visit, key, depth);
  for (const name in part) {
    const each = (part as Record<string, unknown>)[name];
    const looksInto = visit(each, name, depth, false);
    if (looksInto === null) return false;
    if (looksInto && !walkInto(each, visit, name, depth + 1)) return false;
  }
  return true;
}

function walkList(
  parts: readonly unknown[],
  visit: Visit,
  key: string | null,
  depth: number,
): boolean {
  for (let index = 0; index < parts.length; index++) {
    const looksInto = visit(parts[index], key, depth, true);
    if (looksInto === null) return false;
    if (looksInto && !walkInto(parts[index], visit, key, depth + 1)) return false;
  }
  return true;
}

/** Returned for a value: it and the rest of its list or object are not copied. */
export const LEFT_OUT = Symbol('left out');

interface MapOptions {
  /** Changes the keys. By default, they stay. */
  mapKey?: (key: string) => string;
  /** Values that are nested more deeply become null. By default, any depth is allowed. */
  depthMax?: number;
  /** Added in place of a rest that is left out, to an object as the key of `true`. */
  restMark?: string;
}

type Change = (part: unknown, key: string | number | null, inside: unknown) => unknown;

/**
 * A copy of JSON data. `change` gets each value with its key or index in `inside`, and returns
 * another value or LEFT_OUT. If it returns undefined, the value stays, and the values in it are
 * changed.
 */
export function mapJson(value: unknown, change: Change, options: MapOptions = {}): unknown {
  const changed = change(value, null, null);
  return changed === undefined ? new Copier(change, options).copy(value, 1) : changed;
}

class Copier {
  readonly #change: Change;
  readonly #options: MapOptions;
  readonly #depthMax: number;

  constructor(change: Change, options: MapOptions) {
    this.#change = change;
    this.#options = options;
    this.#depthMax = options.depthMax ?? Number.POSITIVE_INFINITY;
  }

  copy(part: unknown, depth: number): unknown {
    if (typeof part !== 'object' || part === null) return part;
    return Array.isArray(part) ? this.#list(part, depth) : this.#object(part, depth);
  }

  #list(parts: readonly unknown[], depth: number): unknown[] {
    const { restMark } = this.#options;
    const copied: unknown[] = [];
    for (let index = 0; index < parts.length; index++) {
      const part = this.#member(parts[index], index, parts, depth);
      if (part === LEFT_OUT) return restMark === undefined ? copied : [...copied, restMark];
      copied.push(part);
    }
    return copied;
  }

  #object(parts: object, depth: number): object {
    const { mapKey, restMark } = this.#options;
    const copied = {};
    for (const key of Object.keys(parts)) {
      const part = this.#member((parts as Record<string, unknown>)[key], key, parts, depth);
      if (part === LEFT_OUT) {
        if (restMark !== undefined) setMember(copied, restMark, true);
        break;
      }
      setMember(copied, mapKey === undefined ? key : mapKey(key), part);
    }
    return copied;
  }

  #member(part: unknown, key: string | number, inside: object, depth: number): unknown {
    if (depth > this.#depthMax) return null;
    const changed = this.#change(part, key, inside);
    return changed === undefined ? this.copy(part, depth + 1) : changed;
  }
}

/** Sets a member of JSON data, whatever its key. */
export function setMember(object: object, key: string, value: unknown): void {
  // An assignment would set the prototype.
  if (key === '__proto__')
    Object.defineProperty(object, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  else (object as Record<string, unknown>)[key] = value;
}

/**
 * A copy of JSON data in which strings are changed. `key`: that of the member whose value the
 * string is; null: it is none.
 */
export function mapStrings<Value>(
  value: Value,
  change: (text: string, key: string | null) => string,
  options?: MapOptions,
): Value {
  const map = (part: unknown, key: string | number | null) =>
    typeof part === 'string' ? change(part, typeof key === 'string' ? key : null) : undefined;
  return mapJson(value, map, options) as Value;
}

/**
 * Returns the value with the keys of all its objects in order, so that equal values have the same
 * JSON.
 */
export function withSortedKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, withSortedKeys(value[key] ?? null)]));
}
