import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import { cutText } from '../../base/text/cut-text.ts';
import { ConfigError, NO_LOCATION } from '../config-error.ts';
import { emptyTable, isTable, mergeTables, putAt, tableWith, toTable } from './config-table.ts';
import type { Layer } from './layer.ts';
import { splitKey } from './split-key.ts';
import type { Toml } from './toml.ts';

/** A configuration has some hundred keys. */
const REQUEST_KEYS_MAX = 10_000;
const KEYS_AT_ONCE = 200;

const OF_REQUEST = "given in the request's config";

/** Whether a layer is that of a request's `config` object. */
export function isRequestLayer({ label }: Layer): boolean {
  return label === OF_REQUEST;
}

/** Returns the layer of the `-c key=value` arguments. Later arguments override earlier ones. */
export function flagsLayer(overrides: readonly string[], toml: Toml): Layer {
  const config = overrides.map((text) => parseOverride(text, toml)).reduce(mergeTables, emptyTable());
  return sessionLayer(config, 'given on the command line');
}

/**
 * Resolves with the layer of a request's `config` object. Its top-level keys may be dotted. Below them a dot is part of the name. Rejects with a
 * ConfigError. Lets other work run while there are many keys.
 */
export async function requestLayer(request: JsonObject, breaks: EventLoopYield): Promise<Layer> {
  const given = toTable(request, NO_LOCATION);
  await breaks.worked(1);
  if (keysIn(given) > REQUEST_KEYS_MAX) throw new ConfigError(`the request's config has more than ${REQUEST_KEYS_MAX} keys`);
  const config = emptyTable();
  for (const [index, [key, value]] of Object.entries(given).entries()) {
    putAt(config, keyParts(key, "the request's config"), value);
    if (index % KEYS_AT_ONCE === 0) await breaks.worked(KEYS_AT_ONCE);
  }
  return { ...sessionLayer(config, OF_REQUEST), locate: () => ({ ...NO_LOCATION, isRequests: true }) };
}

/** The keys of a table and of all tables in it. */
function keysIn(value: JsonValue): number {
  if (Array.isArray(value)) return value.reduce((sum: number, part) => sum + keysIn(part), 0);
  if (!isTable(value)) return 0;
  return Object.values(value).reduce((sum: number, part) => sum + 1 + keysIn(part as JsonValue), 0);
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

function parseOverride(text: string, toml: Toml): JsonObject {
  const equals = text.indexOf('=');
  if (equals === -1) throw new ConfigError(`-c ${shorten(text)}: expected key=value`);
  const key = text.slice(0, equals).trim();
  return tableWith(keyParts(key, `-c ${shorten(key)}=…`), parseValue(text.slice(equals + 1).trim(), toml));
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
  if (parts === null) throw new ConfigError(`${where}: ${JSON.stringify(shorten(key))} is not a key: expected names separated by dots`);
  return parts;
}

function shorten(text: string): string {
  return text.length > 80 ? `${cutText(text, 80)}…` : text;
}
