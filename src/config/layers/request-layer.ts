import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices, slicesOf } from '../../base/in-slices.ts';
import { type JsonObject, type JsonValue, walkJson } from '../../base/json-value.ts';
import { cutText } from '../../base/text/cut-text.ts';
import { ConfigError, NO_LOCATION } from '../toml/config-error.ts';
import { emptyTable, mergeTables, putAt, tableWith, toTable } from '../toml/config-table.ts';
import { splitKey } from '../toml/split-key.ts';
import type { Toml } from '../toml/toml.ts';
import type { Layer } from './layer.ts';

/** A configuration has some hundred keys. */
const REQUEST_KEYS_MAX = 10_000;
const KEYS_AT_ONCE = 200;

const OF_REQUEST = "given in the request's config";

/** Whether a layer is that of a request's `config` object. */
export function isRequestLayer({ label }: Layer): boolean {
  return label === OF_REQUEST;
}

/**
 * Settings that override config.toml: the `key=value` arguments of the command line, or the option
 * `overrides` of a program that has the server in its process.
 */
export type Overrides = readonly string[] | JsonObject;

export function overridesLayer(overrides: Overrides, toml: Toml): Layer {
  return isList(overrides) ? flagsLayer(overrides, toml) : optionLayer(overrides);
}

/**
 * Returns the layer of the `-c key=value` arguments. Later arguments override earlier ones. `flag`
 * stands for `-c` in errors.
 */
export function flagsLayer(overrides: readonly string[], toml: Toml, flag = '-c'): Layer {
  const config = overrides
    .map((text) => parseOverride(text, { toml, flag }))
    .reduce(mergeTables, emptyTable());
  return sessionLayer(config, 'given on the command line');
}

/**
 * Returns the layer of an object with settings. As in a request's `config`, its top-level keys may
 * be dotted.
 */
export function optionLayer(overrides: JsonObject): Layer {
  const config = emptyTable();
  const table = toTable(overrides, NO_LOCATION);
  requireData(overrides, 'overrides ');
  putAll(config, Object.entries(table), 'overrides');
  return sessionLayer(config, 'given in the option `overrides`');
}

/**
 * Throws a ConfigError about a value that only a program can have, and that a table would lose in
 * silence.
 */
function requireData(given: object, place: string): void {
  for (const [key, value] of Object.entries(given) as [string, unknown][]) {
    const kind = typeof value;
    if (kind === 'function' || kind === 'symbol')
      throw new ConfigError(`${place}${key}: expected a value, found a ${kind}`);
    if (typeof value === 'object' && value !== null) requireData(value, `${place}${key}.`);
  }
}

function isList(overrides: Overrides): overrides is readonly string[] {
  return Array.isArray(overrides);
}

/**
 * Resolves with the layer of a request's `config` object. Its top-level keys may be dotted. Below
 * them a dot is part of the name. Rejects with a ConfigError. Lets other work run while there are
 * many keys.
 */
export async function requestLayer(request: JsonObject, breaks: EventLoopYield): Promise<Layer> {
  const given = toTable(request, NO_LOCATION);
  await breaks.worked(1);
  if (keysIn(given) > REQUEST_KEYS_MAX)
    throw new ConfigError(`the request's config has more than ${REQUEST_KEYS_MAX} keys`);
  const config = emptyTable();
  const entries = Object.entries(given);
  for await (const some of inSlices(slicesOf(entries, KEYS_AT_ONCE), KEYS_AT_ONCE, breaks))
    putAll(config, some, "the request's config");
  return {
    ...sessionLayer(config, OF_REQUEST),
    locate: () => ({ ...NO_LOCATION, isRequests: true }),
  };
}

/** Puts values at their dotted keys. `where`: the place of the keys, for errors. */
function putAll(config: JsonObject, entries: readonly [string, JsonValue][], where: string): void {
  for (const [key, value] of entries) putAt(config, keyParts(key, where), value);
}

/** The keys of a table and of all tables in it. */
function keysIn(value: JsonValue): number {
  let count = 0;
  walkJson(value, (_part, key, _depth, isElement) => {
    if (key !== null && !isElement) count++;
    return true;
  });
  return count;
}

function sessionLayer(config: JsonObject, label: string): Layer {
  return {
    name: { type: 'sessionFlags' },
    config,
    disabledReason: null,
    warnsDisabled: false,
    ignoredKeys: [],
    label,
    locate: () => NO_LOCATION,
  };
}

function parseOverride(text: string, { toml, flag }: { toml: Toml; flag: string }): JsonObject {
  const equals = text.indexOf('=');
  if (equals === -1) throw new ConfigError(`${flag} ${shorten(text)}: expected key=value`);
  const key = text.slice(0, equals).trim();
  return tableWith(
    keyParts(key, `${flag} ${shorten(key)}=…`),
    parseValue(text.slice(equals + 1).trim(), toml),
  );
}

/** Parses the value as TOML. If it is not TOML, it is a string: `-c model=name` needs no quotes. */
function parseValue(text: string, toml: Toml): JsonValue {
  const table = toml.tryParse(`value = ${text}\n`);
  if (table === null || Object.keys(table).length !== 1) return text;
  return table.value ?? text;
}

/** Throws a ConfigError if it is not a key. */
function keyParts(key: string, where: string): string[] {
  const parts = splitKey(key);
  if (parts === null)
    throw new ConfigError(
      `${where}: ${JSON.stringify(shorten(key))} is not a key: expected names separated by dots`,
    );
  return parts;
}

function shorten(text: string): string {
  return text.length > 80 ? `${cutText(text, 80)}…` : text;
}
