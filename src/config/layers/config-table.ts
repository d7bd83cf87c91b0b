import { isObject, type JsonObject, type JsonValue } from '../../base/json-value.ts';
import { ConfigError, type ConfigLocation } from '../config-error.ts';

/** Settings by key, as TOML and JSON have them. Its prototype is null. */
export type ConfigTable = JsonObject;

const DEPTH_MAX = 64;

/** A table without a prototype, so that a key such as `__proto__` is data like any other. */
export function emptyTable(): ConfigTable {
  return Object.create(null) as ConfigTable;
}

export function isTable(value: JsonValue | undefined): value is ConfigTable {
  return isObject(value);
}

/**
 * Copies what TOML or JSON gave into tables. A key whose value is null is left out, a date becomes its ISO text, an
 * integer beyond 2^53 the nearest number, and `nan` and `inf` texts, which JSON could not carry.
 */
export function toTable(source: object, location: ConfigLocation): JsonObject {
  return copyTable(source, location, 0);
}

function copyTable(source: object, location: ConfigLocation, depth: number): JsonObject {
  if (depth > DEPTH_MAX) throw new ConfigError(`nested deeper than ${DEPTH_MAX} levels`, location);
  const table = emptyTable();
  for (const [key, value] of Object.entries(source)) {
    const copied = copyValue(value, location, depth);
    if (copied !== null) table[key] = copied;
  }
  return table;
}

function copyValue(value: unknown, location: ConfigLocation, depth: number): JsonValue {
  if (Array.isArray(value)) {
    if (depth > DEPTH_MAX) throw new ConfigError(`nested deeper than ${DEPTH_MAX} levels`, location);
    return value.map((element) => copyValue(element, location, depth + 1));
  }
  if (value instanceof Date) return value.toISOString();
  if (isObject(value)) return copyTable(value, location, depth + 1);
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  return null;
}

/** `over` laid on `base`: tables are merged key by key, anything else is replaced. Neither is changed. */
export function mergeTables(base: JsonObject, over: JsonObject): JsonObject {
  const merged = Object.assign(emptyTable(), base);
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key];
    merged[key] = isTable(value) && isTable(below) ? mergeTables(below, value) : value;
  }
  return merged;
}

/** A table that holds only `value`, at `path`. */
export function tableWith(path: readonly string[], value: JsonValue): JsonObject {
  const table = emptyTable();
  const [key, ...rest] = path;
  if (key !== undefined) table[key] = rest.length === 0 ? value : tableWith(rest, value);
  return table;
}

/** What stands at `path`; undefined where nothing does, or where the way leads through something that is no table. */
export function valueAt(table: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = table;
  for (const key of path) {
    if (!isTable(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}
