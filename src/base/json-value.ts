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
 * Returns the value with the keys of all its objects in order, so that equal values have the same
 * JSON.
 */
export function withSortedKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, withSortedKeys(value[key] ?? null)]));
}

interface MapOptions {
  /** Changes the keys. By default, they stay. */
  mapKey?: (key: string) => string;
  /** Values that are nested more deeply become null. By default, any depth is allowed. */
  depthMax?: number;
}

/**
 * A copy of JSON data in which strings are changed. `key`: that of the member whose value the
 * string is; null: it is none.
 */
export function mapStrings<Value>(
  value: Value,
  change: (text: string, key: string | null) => string,
  { mapKey = (key) => key, depthMax = Number.POSITIVE_INFINITY }: MapOptions = {},
): Value {
  const map = (part: unknown, key: string | null, depth: number): unknown => {
    if (depth > depthMax) return null;
    if (typeof part === 'string') return change(part, key);
    if (Array.isArray(part)) return part.map((each) => map(each, null, depth + 1));
    if (!isObject(part)) return part;
    return Object.fromEntries(
      Object.entries(part).map(([name, each]) => [mapKey(name), map(each, name, depth + 1)]),
    );
  };
  return map(value, null, 0) as Value;
}
