import { isObject, type JsonObject, type JsonValue } from '../../base/json-value.ts';
import { ConfigError, type ConfigLocation } from './config-error.ts';

/** Settings by key, from TOML or JSON. Its prototype is null. */
export type ConfigTable = JsonObject;

const TABLE_DEPTH_MAX = 64;

/** Returns a table without a prototype, so that a key such as `__proto__` is ordinary data. */
export function emptyTable(): ConfigTable {
  return Object.create(null) as ConfigTable;
}

export function isTable(value: JsonValue | undefined): value is ConfigTable {
  return isObject(value);
}

/**
 * Copies parsed TOML or JSON into tables, with values that JSON can represent. Omits keys with null
 * values. A date becomes an ISO string, an integer beyond 2^53 the nearest number, and `nan` and
 * `inf` become strings. Throws a ConfigError if nested too deeply.
 */
export function toTable(source: object, location: ConfigLocation): JsonObject {
  return copyTable(source, { location, isFrozen: false }, 0);
}

/** As `toTable`. Nobody can change the tables any more. */
export function toFrozenTable(source: object, location: ConfigLocation): JsonObject {
  return copyTable(source, { location, isFrozen: true }, 0);
}

interface Copying {
  location: ConfigLocation;
  isFrozen: boolean;
}

function copyTable(source: object, copying: Copying, depth: number): JsonObject {
  const { location, isFrozen } = copying;
  if (depth > TABLE_DEPTH_MAX)
    throw new ConfigError(`nested deeper than ${TABLE_DEPTH_MAX} levels`, location);
  const table = emptyTable();
  for (const [key, value] of Object.entries(source)) {
    const copied = copyValue(value, copying, depth);
    if (copied !== null) table[key] = copied;
  }
  return isFrozen ? Object.freeze(table) : table;
}

function copyValue(value: unknown, copying: Copying, depth: number): JsonValue {
  if (Array.isArray(value)) {
    if (depth > TABLE_DEPTH_MAX)
      throw new ConfigError(`nested deeper than ${TABLE_DEPTH_MAX} levels`, copying.location);
    const copied = value.map((element) => copyValue(element, copying, depth + 1));
    return copying.isFrozen ? (Object.freeze(copied) as JsonValue[]) : copied;
  }
  if (value instanceof Date) return value.toISOString();
  if (isObject(value)) return copyTable(value, copying, depth + 1);
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  return null;
}

/**
 * Returns a new table: `base` overridden by `over`. Merges tables key by key and replaces other
 * values.
 */
export function mergeTables(base: JsonObject, over: JsonObject): JsonObject {
  const merged = Object.assign(emptyTable(), base);
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key];
    merged[key] = isTable(value) && isTable(below) ? mergeTables(below, value) : value;
  }
  return merged;
}

/**
 * Puts a value at `path` into a table that the caller owns, with all tables in it and in `value`:
 * tables are merged, other values are replaced. Many values are put into one table in linear time.
 */
export function putAt(
  table: JsonObject,
  [key, ...rest]: readonly string[],
  value: JsonValue,
): void {
  if (key === undefined) return;
  const below = table[key];
  if (rest.length > 0) {
    const next = isTable(below) ? below : emptyTable();
    table[key] = next;
    putAt(next, rest, value);
  } else if (isTable(below) && isTable(value)) {
    for (const [name, part] of Object.entries(value)) putAt(below, [name], part);
  } else {
    table[key] = value;
  }
}

/** Returns a table with only `value` in it, at `path`. */
export function tableWith(path: readonly string[], value: JsonValue): JsonObject {
  const table = emptyTable();
  const [key, ...rest] = path;
  if (key !== undefined) table[key] = rest.length === 0 ? value : tableWith(rest, value);
  return table;
}

/** Returns the value at `path`, or undefined if there is none. */
export function valueAt(table: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = table;
  for (const key of path) {
    if (!isTable(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}
